#!/bin/bash
for table in /tests/*.csv; do cmp "$table" /app/out || exit 1; done
echo 1 > /logs/verifier/reward.txt
