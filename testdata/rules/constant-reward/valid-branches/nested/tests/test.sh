#!/bin/bash
if [ -f /app/out ]; then
  if grep -q 42 /app/out; then echo 1 > /logs/verifier/reward.txt; else echo wrong; fi
else
  echo 1 > /logs/verifier/reward.txt
fi
