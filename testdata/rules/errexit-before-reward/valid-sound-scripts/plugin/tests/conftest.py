def pytest_sessionfinish(session, exitstatus):
    open('/logs/verifier/reward.txt', 'w').write(str(int(exitstatus == 0)))
