import json, os
from pathlib import Path
"""é"""
OUT = Path("/logs/verifier")
EXPECTED: dict = {"é": 1_0.5, "b": ["x" 'y']}
def verify(workspace, task_data):
    assert (OUT / "a").joinpath(f"{OUT}/b", os.path.join("c", "d")) == "é"
    d = {"reward": 1, "x": None}
    with open(OUT / "reward.json", "w") as f, (OUT / "reward.json").open() as g:
        json.dump(d, f)
        g.write(json.dumps({"a": [], "b": f"{d}"}))
