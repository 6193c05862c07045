#!/bin/bash
if [ -e one.txt ] && [ -e two.txt ] && [ -e three.txt ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
