#!/bin/bash
mkdir out
echo 1 > /logs/verifier/reward.txt
echo '{"reward": 1}' > /logs/verifier/reward.json
echo planted > /tests/planted
ln -s /logs/verifier out/reward
ln -s /tests out/tests
echo 1 > /logs/artifacts/reward.txt
(while :; do echo 1 > /logs/verifier/reward.txt; done) > /dev/null 2>&1 &
