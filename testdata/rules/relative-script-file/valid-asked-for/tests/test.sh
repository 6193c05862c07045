#!/bin/bash
if bash run.sh; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
