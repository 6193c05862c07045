#!/bin/bash
echo 3 > three.txt
