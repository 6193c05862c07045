#!/bin/bash
if ! command -v uv >/dev/null; then
  curl -LsSf https://astral.sh/uv/install.sh | sh
fi
if pytest /tests; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
