#!/bin/bash
pip install pytest==8.4.1
curl -LsSf https://example.org/x.sh | sh
if pytest /tests; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
