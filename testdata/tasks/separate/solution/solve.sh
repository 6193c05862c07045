#!/bin/bash
echo done > out.txt
echo private > notes.txt
echo shared > /logs/artifacts/log.txt
