#!/bin/bash
cp /tests/fixtures/in.sh /app/in.sh
if /app/deploy.sh; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
