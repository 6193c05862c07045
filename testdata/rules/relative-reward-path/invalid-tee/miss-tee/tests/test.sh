#!/bin/bash
echo 1 | tee reward.txt
