#!/bin/bash
# Every step is checked by the same script; what it looks for comes from the step.
if [ "$(cat out.txt 2> /dev/null)" = "$(cat /tests/expected.txt)" ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
