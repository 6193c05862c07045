def test_hash():
    assert digest("/app/out.bin") == "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"


def test_sum():
    assert total() == 7391846.25
