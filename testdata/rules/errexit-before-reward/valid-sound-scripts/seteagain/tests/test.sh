#!/bin/bash
set -e
set +e
pytest /tests/t.py
rc=$?
set -e
echo $rc > /logs/verifier/reward.txt
