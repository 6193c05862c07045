#!/bin/bash
cat more.txt >> out.txt
