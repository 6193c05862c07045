#!/bin/bash
curl -s http://localhost:8080/health -o /tmp/health
apt-get install -y /tests/jq.deb
if pytest /tests; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
