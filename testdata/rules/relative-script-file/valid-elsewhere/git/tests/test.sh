#!/bin/bash
if python3 check.py; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
