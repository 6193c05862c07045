#!/bin/bash
cd /tests
cp /app/out.txt out.txt
cat /tests/out.txt
if pytest /tests/test_o.py; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi
