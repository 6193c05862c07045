#!/bin/bash
set -e
uv run --with pytest -- python -m pytest /tests/test_o.py
echo 1 > /logs/verifier/reward.txt
