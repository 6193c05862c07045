#!/bin/bash
set -e
cd /tests
cargo test --no-run
if pytest /tests/test_o.py; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi
