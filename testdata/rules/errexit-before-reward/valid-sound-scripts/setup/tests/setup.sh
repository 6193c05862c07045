#!/bin/bash
mkdir -p /x
