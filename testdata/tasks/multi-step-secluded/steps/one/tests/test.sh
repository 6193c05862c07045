#!/bin/bash
echo secret > /tests/key.txt
[ -e one.txt ] && echo 1 > /logs/verifier/reward.txt || echo 0 > /logs/verifier/reward.txt
