true
true
