#!/bin/bash
echo undone > out.txt
