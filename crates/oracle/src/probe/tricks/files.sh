put_rewards /logs/verifier
