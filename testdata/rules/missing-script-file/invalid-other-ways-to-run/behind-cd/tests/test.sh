#!/bin/bash
cd /app && python3 /tests/gone.py
if pytest /tests/test_o.py; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi
