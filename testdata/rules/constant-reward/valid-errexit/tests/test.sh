#!/bin/bash
set -e
grep -q 42 /app/answer.txt
echo 1 > /logs/verifier/reward.txt
