#!/bin/bash
echo 1 > one.txt
