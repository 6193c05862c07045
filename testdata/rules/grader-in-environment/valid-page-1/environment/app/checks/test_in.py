def test_in():
    assert open("/app/in").read()
