#!/bin/bash
set -e
python3 /tests/grade.py
if [ ! -f /logs/verifier/reward.txt ]; then echo 0 > /logs/verifier/reward.txt; fi
