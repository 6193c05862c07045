#!/bin/bash
set -e
echo 0 | install /dev/stdin /logs/verifier/reward.txt
pytest /tests/test_o.py
echo 1 > /logs/verifier/reward.txt
