#!/bin/bash
cd /tests
python3 grade.py
cat /tests/cases.json
if pytest /tests/test_o.py; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi
