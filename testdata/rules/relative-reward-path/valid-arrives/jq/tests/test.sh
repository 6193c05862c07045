#!/bin/bash
pytest --json-report
python3 /tests/grade.py > reward.json
jq .x reward.json > /logs/verifier/reward.json
