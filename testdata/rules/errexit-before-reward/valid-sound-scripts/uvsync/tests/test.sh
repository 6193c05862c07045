#!/bin/bash
set -e
uv run pytest --co -q /tests
if uv run pytest /tests/t.py; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
