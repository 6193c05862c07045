import json


def write(passed, total):
    with open("/logs/verifier/reward.json", "w") as file:
        json.dump({"passed": passed, "total": total}, file)
