#!/bin/bash
python3 /solution/new.py
