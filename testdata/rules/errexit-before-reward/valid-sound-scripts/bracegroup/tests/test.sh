#!/bin/bash
set -e
{ pytest /tests/t.py; echo 1 > /logs/verifier/reward.txt; } || echo 0 > /logs/verifier/reward.txt
