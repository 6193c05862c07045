#!/bin/bash
mkdir -p site/cache site/a data
echo page > site/index.html
echo log > site/build.log
echo log > site/a/deep.log
echo x > site/cache/x
echo text > site/a/text
ln -s index.html site/home
echo 1,2 > data/table.csv
