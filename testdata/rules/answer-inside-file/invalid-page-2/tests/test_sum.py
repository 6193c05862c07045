EXPECTED = "a6b0d9b7f6"


def test_sum():
    assert open("/app/sum.txt").read() == EXPECTED
