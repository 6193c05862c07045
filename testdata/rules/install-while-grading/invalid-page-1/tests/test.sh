#!/bin/bash
apt-get update
apt-get install -y curl=7.88.1-10 || true
curl -LsSf https://astral.sh/uv/0.9.7/install.sh | sh
if pytest /tests; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
