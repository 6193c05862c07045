#!/bin/bash
# The work of step one is still there.
grep -q first out.txt && echo second > more.txt
