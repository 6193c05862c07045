#!/bin/bash
python3 -m venv /tests/.venv
source /tests/.venv/bin/activate
if pytest /tests/test_o.py; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi
