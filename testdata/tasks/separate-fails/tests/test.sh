#!/bin/bash
if [ "$(cat out.txt)" = done ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
