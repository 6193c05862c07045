#!/bin/bash
bash /solution/setup.sh
