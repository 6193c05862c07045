#!/bin/bash
pushd /tests
make gen
popd
cat /tests/out.json
if pytest /tests/test_o.py; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi
