#!/bin/bash
cp -r /app/. /tests/app
python3 /tests/app/main.py
if pytest /tests/test_o.py; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi
