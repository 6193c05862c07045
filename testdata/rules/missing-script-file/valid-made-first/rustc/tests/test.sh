#!/bin/bash
rustc -o /tests/grader /tests/grader.rs
/tests/grader
if pytest /tests/test_o.py; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi
