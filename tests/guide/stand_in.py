"""Stands in for `./heed` where the documents' commands are tried, so that these can be run as they are written.

What it changes: `run` gets overrides after those of the command, so that it takes a moment; and the IDs that the
documents use as examples become those of runs that are there. Everything else goes to the program as it is.

Environment: HEED_STAND_IN, a JSON object with
  program   the `heed` to call
  short     the overrides
  for       {"positions.toml": more overrides of this config}
  runs      {"3f2a": ID} for every command, {"generate RUN": ID} for one of them
"""

import json
import os
import sys

given = json.loads(os.environ["HEED_STAND_IN"])
words = sys.argv[1:]
command = words[0] if words else ""
words = [given["runs"].get(f"{command} {word}", given["runs"].get(word, word)) for word in words]
start = "train.start="
words = [start + given["runs"].get(word[len(start):], word[len(start):]) if word.startswith(start) else word
         for word in words]
shortened = given["short"] + given["for"].get(words[1], []) if command == "run" and len(words) > 1 else []
os.execv(given["program"], [given["program"], *words, *shortened])
