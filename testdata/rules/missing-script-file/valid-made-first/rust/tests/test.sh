#!/bin/bash
cargo build --release --manifest-path /tests/Cargo.toml
/tests/target/release/grader
if pytest /tests/test_o.py; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi
