#!/bin/bash
python3 /tests/grade.py --out /tests/cases.json
cat /tests/cases.json
if pytest /tests/test_o.py; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi
