#!/bin/bash
mv /tests/grade.py /tests/g2.py
python3 /tests/g2.py
if pytest /tests/test_o.py; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi
