#!/bin/bash
set -u
echo 1 > /logs/verifier/reward.txt
