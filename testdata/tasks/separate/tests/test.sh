#!/bin/bash
reward=0
if [ "$(cat out.txt)" = done ] && [ ! -e notes.txt ] && [ "$(cat /logs/artifacts/log.txt)" = shared ]; then reward=1; fi
echo "$reward" > /logs/verifier/reward.txt
