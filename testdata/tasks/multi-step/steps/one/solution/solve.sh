#!/bin/bash
cp given.txt out.txt
