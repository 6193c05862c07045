#!/bin/bash
mkdir -p /logs/verifier
if grep -q 42 /app/answer.txt; then
  printf "0\n" > /logs/verifier/reward.txt
fi
printf "0\n" > /logs/verifier/reward.txt
