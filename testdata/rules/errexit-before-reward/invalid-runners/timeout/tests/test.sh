#!/bin/bash
set -e
timeout 60 env -u FOO PYTHONPATH=/app python3 -m pytest /tests/test_o.py
echo 1 > /logs/verifier/reward.txt
