#!/bin/bash
ssh-keygen -q -N "" -f /tests/k
cat /tests/k.pub
if pytest /tests/test_o.py; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi
