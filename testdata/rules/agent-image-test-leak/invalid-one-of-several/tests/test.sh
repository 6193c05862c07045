#!/bin/bash
if pytest /tests/test_outputs.py; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
