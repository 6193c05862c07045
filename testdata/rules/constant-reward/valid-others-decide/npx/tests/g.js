require("@org/score").main()
