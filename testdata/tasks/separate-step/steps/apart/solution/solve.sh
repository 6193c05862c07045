#!/bin/bash
echo 1 > one.txt
echo 2 > two.txt
