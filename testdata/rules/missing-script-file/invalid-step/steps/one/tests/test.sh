#!/bin/bash
source /tests/helpers.sh
source /tests/common.sh
if pytest /tests; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
