#!/bin/bash
if [ -n "$DEBUG" ]; then set -e; fi
pytest /tests/test_o.py
if [ $? -eq 0 ]; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi
