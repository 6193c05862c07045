#!/bin/bash
python3 /tests/grade.py
echo 0 > /logs/verifier/reward.txt
