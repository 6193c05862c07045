#!/bin/bash
python3 /app/make.py > /app/out.json
