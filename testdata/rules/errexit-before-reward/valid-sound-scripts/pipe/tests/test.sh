#!/bin/bash
set -e
pytest /tests/test_o.py | tee /logs/verifier/log
if grep -q passed /logs/verifier/log; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi
