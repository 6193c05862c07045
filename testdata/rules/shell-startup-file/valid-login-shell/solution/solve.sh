#!/bin/bash -l
tool
