#!/bin/bash
cd /tests
echo 1 > x.txt
cat /tests/x.txt
if pytest /tests/test_o.py; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi
