#!/bin/bash -e
pytest /tests/test_o.py
echo 1 > /logs/verifier/reward.txt
