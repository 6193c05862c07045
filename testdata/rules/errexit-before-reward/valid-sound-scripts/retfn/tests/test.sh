#!/bin/bash
set -e
grade() { if pytest /tests/t.py; then echo 1; else echo 0; fi > /logs/verifier/reward.txt; }
grade
