trap 'test -f /logs/verifier/reward.txt || echo 0 > /logs/verifier/reward.txt' EXIT
