#!/bin/bash
pytest && echo 1 > reward.txt || echo 0 > reward.txt
python3 /tests/grade.py reward.txt /logs/verifier/reward.txt
