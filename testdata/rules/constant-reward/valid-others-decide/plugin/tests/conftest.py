pytest_plugins=["harbor_score"]
