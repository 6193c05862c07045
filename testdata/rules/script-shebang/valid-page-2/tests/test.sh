#!/bin/bash -eu
echo 1 > /logs/verifier/reward.txt
