#!/bin/bash
if pytest /tests/test_work.py; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
