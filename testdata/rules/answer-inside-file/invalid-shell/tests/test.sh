#!/bin/bash
EXPECTED_TOTAL=7391846.25
SIZE=8462519.37
if [ "$(sha256sum < /app/out)" = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" ] && [ "$(cat /app/total)" = "$EXPECTED_TOTAL" ]; then r=1; else r=0; fi
echo $r > /logs/verifier/reward.txt
