#!/bin/bash
cat /tests/extra.txt 2>/dev/null
if pytest /tests/test_o.py; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi
