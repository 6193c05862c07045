#!/bin/bash
if pytest /tests/t.py; then
  echo 1 > /logs/verifier/reward.txt
elif grep -q 4 /app/out; then
  echo 1 > /logs/verifier/reward.txt
else
  echo 1 > /logs/verifier/reward.txt
fi
