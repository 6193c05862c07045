#!/bin/bash
set -e
if ! pytest /tests/t.py; then echo 0 > /logs/verifier/reward.txt; exit 0; fi
echo 1 > /logs/verifier/reward.txt
