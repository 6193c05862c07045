#!/bin/bash
set -e
echo 0 > /tmp/r && mv /tmp/r /logs/verifier/reward.txt
pytest /tests/t.py
echo 1 > /logs/verifier/reward.txt
