import json


def write(passed, total):
    with open("/logs/verifier/reward.json", "w") as file:
        json.dump({"reward": passed / total, "passed": passed, "total": total}, file)
    with open("/logs/verifier/details.json", "w") as file:
        json.dump({"items": ["a", "b"]}, file)
