from pathlib import Path

INPUT = "/app/rows.csv"
SESSION = "/root/.agent/session.jsonl"
LIB = "/usr/lib/x.so"
OUT = Path("/app") / "out"
HELP = "/app/made by.csv"
