#!/bin/bash
echo 0 > /logs/verifier/reward.txt
grep -q 42 /app/answer.txt && echo 1 > /logs/verifier/reward.txt
