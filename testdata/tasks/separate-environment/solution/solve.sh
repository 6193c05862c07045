#!/bin/bash
echo "$WHO" > out.txt
