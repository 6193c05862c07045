#!/bin/bash
if [ "$(cat /app/out.txt)" = work ] && [ "$WHO $PWD" = "verifier /check" ] && [ "$(grep -c : /proc/net/dev)" = 1 ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
