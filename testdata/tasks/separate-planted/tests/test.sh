#!/bin/bash
if [ -e /tests/planted ]; then echo 1 > /logs/verifier/reward.txt; fi
