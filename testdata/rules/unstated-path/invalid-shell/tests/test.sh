#!/bin/bash
if [ -f /app/result.csv ] && grep -q ok /app/log.txt; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
