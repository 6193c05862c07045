#!/bin/bash
diff /app/out.csv /tests/rows.csv && echo 1 > /logs/verifier/reward.txt || echo 0 > /logs/verifier/reward.txt
