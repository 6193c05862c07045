#!/bin/bash
set -e
uv pip install pytest
uv add pytest
python3 -m pip install pytest
if pytest /tests; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi
