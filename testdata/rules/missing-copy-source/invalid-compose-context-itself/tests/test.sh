#!/bin/bash
if pytest /tests; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
