#!/bin/bash
seen=$(cd /app && find . -mindepth 1 | sort | tr "\n" " ")
want="./data ./data/table.csv ./site ./site/a ./site/a/text ./site/home ./site/index.html "
if [ "$seen" = "$want" ] && [ "$(cat site/home)" = page ]; then echo 1; else echo "$seen" >&2; echo 0; fi > /logs/verifier/reward.txt
