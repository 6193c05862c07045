#!/bin/bash
curl -s -o /tmp/page http://localhost:8000/
echo 1 > /logs/verifier/reward.txt
