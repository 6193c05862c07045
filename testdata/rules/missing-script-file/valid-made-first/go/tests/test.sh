#!/bin/bash
cd /tests && go build -o checker . 
/tests/checker /app
if pytest /tests/test_o.py; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi
