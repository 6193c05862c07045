#!/bin/bash
source ~/.bashrc
tool
