#!/bin/bash
set -e
trap "echo 0 > /logs/verifier/reward.txt" exit
pytest /tests/test_o.py
echo 1 > /logs/verifier/reward.txt
