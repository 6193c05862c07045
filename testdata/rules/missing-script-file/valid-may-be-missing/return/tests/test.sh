#!/bin/bash
if [ ! -f /tests/opt.txt ]; then exit 1; fi
cat /tests/opt.txt
if pytest /tests/test_o.py; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi
