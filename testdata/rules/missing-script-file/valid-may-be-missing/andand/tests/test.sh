#!/bin/bash
cd /app && [ -n "$MORE" ] && cat /tests/more.txt
[ -f /tests/opt.sh ] && source /tests/opt.sh
if pytest /tests/test_o.py; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi
