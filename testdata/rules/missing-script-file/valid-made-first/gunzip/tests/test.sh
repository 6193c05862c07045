#!/bin/bash
gunzip /tests/data.csv.gz
cp /tests/data.csv /app/data.csv
if pytest /tests/test_o.py; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi
