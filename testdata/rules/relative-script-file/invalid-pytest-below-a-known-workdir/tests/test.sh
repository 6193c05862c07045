#!/bin/bash
if python3 -m pytest -rA tests/test_a.py::test_a; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
