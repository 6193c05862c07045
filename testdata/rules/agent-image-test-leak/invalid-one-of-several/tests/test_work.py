def test_work():
    assert 1 + 1 == 2
