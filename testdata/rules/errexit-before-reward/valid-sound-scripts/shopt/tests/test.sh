#!/bin/bash
set -e
mkdir -p /logs/verifier
shopt -uo errexit
pytest /tests/test_o.py
if [ $? -eq 0 ]; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi
