#!/bin/bash
uv venv /tests/.venv
/tests/.venv/bin/python /tests/grade.py
if pytest /tests/test_o.py; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi
