def test_input_is_untouched():
    assert digest("/app/birds.txt") == "e39f63ebc2705b9d3570741623015955e47d9fdb4e3b457395adb6b533777cce"
    assert digest("/app/input.bin") == "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
