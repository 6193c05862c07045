#!/bin/bash
echo > two.txt
