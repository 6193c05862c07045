#!/bin/bash
set -e
cp /tests/zero.txt /logs/verifier/reward.txt
pytest /tests/test_o.py
echo 1 > /logs/verifier/reward.txt
