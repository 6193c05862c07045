#!/bin/bash
set -e
if [ -z "$IN" ]; then IN=1 bash "$0" || echo 0 > /logs/verifier/reward.txt; exit 0; fi
pytest /tests/t.py
echo 1 > /logs/verifier/reward.txt
