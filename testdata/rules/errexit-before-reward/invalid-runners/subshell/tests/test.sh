#!/bin/bash
set -e
( cd /app; pytest /tests/test_o.py )
echo 1 > /logs/verifier/reward.txt
