#!/bin/bash
reward() { echo "$1" > /logs/verifier/reward.txt; }
reward 0
set -e
pytest /tests/test_o.py
echo 1 > /logs/verifier/reward.txt
