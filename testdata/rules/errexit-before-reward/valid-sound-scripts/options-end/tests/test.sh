#!/bin/bash
set -- -e
pytest /tests/test_o.py
echo $? > /logs/verifier/reward.txt
