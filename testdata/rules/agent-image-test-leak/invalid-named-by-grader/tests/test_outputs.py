def test_out():
    assert open("/app/out").read() == "2"
