#!/bin/bash
npm ci --prefix /tests
/tests/node_modules/.bin/jest
if pytest /tests/test_o.py; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi
