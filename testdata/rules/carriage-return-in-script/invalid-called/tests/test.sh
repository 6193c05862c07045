#!/bin/bash
. /tests/lib/common.sh
HERE="$(cd "$(dirname "$0")" && pwd)"
if bash "$HERE/lib/check.sh"; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
