#!/bin/bash
set -eo pipefail
pytest /tests/test_o.py | tee /logs/verifier/log
echo 1 > /logs/verifier/reward.txt
