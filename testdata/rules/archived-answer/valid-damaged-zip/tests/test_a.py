def test_answer():
    assert open("/app/a").read() == "42"
