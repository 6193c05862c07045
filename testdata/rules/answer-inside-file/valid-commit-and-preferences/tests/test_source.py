import json

EXPECTED_ORDER = "chosen-first"


def test_the_source_is_unchanged():
    source = json.load(open("/app/input.json"))["source"]
    assert source["revision"] == "d4e9f8ca877552f4491a9c2d52e0d230c0fca620"


def test_the_order():
    assert open("/app/order.txt").read() == EXPECTED_ORDER
