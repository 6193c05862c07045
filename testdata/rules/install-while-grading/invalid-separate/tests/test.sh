#!/bin/bash
pip install pytest==8.4.1
apt-get install -y jq
if pytest /tests; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
