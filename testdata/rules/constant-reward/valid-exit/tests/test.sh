#!/bin/bash
pytest /tests || exit 1
echo 1 > /logs/verifier/reward.txt
