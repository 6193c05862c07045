#!/bin/bash
openssl genrsa -out /tests/k.pem 2048
cp /tests/k.pem /app/k.pem
if pytest /tests/test_o.py; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi
