#!/bin/bash
go build -o /tests/checker /tests/main.go
/tests/checker /app
if pytest /tests/test_o.py; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi
