from pathlib import Path

APP = Path("/app")


def test_out():
    assert (APP / "out.csv").read_text()
