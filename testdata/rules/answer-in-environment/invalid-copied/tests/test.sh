#!/bin/bash
if cmp /app/out.json /tests/expected.json; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
