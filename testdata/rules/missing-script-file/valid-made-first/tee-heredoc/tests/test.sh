#!/bin/bash
tee /tests/x.py >/dev/null <<EOF
print(1)
EOF
python3 /tests/x.py
if pytest /tests/test_o.py; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi
