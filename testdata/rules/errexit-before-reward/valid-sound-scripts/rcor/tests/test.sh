#!/bin/bash
set -e
rc=0
pytest /tests/t.py || rc=$?
echo $rc > /logs/verifier/reward.txt
