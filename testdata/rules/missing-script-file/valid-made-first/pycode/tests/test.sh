#!/bin/bash
python3 - <<EOF
open("/tests/x.json","w").write("1")
EOF
cat /tests/x.json
if pytest /tests/test_o.py; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi
