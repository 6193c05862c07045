#!/bin/bash
set -e
: "${R:=/logs/verifier/reward.txt}"
echo 0 > "$R"
pytest /tests/test_o.py
echo 1 > /logs/verifier/reward.txt
