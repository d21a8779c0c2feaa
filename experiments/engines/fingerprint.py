"""Writes a header with the fingerprint of what the program and its engines share: a hash of every header of the rooms
that an engine is compiled from. Usage: fingerprint.py OUTPUT DEPFILE CHECKOUT"""

import hashlib
import pathlib
import re
import sys

ROOMS = ["autograd", "options", "layers"] + [f"experiments/{room}" for room in (
    "system", "config", "data", "tasks", "models", "operators", "metrics", "decoding", "training", "engines")]

output, depfile, checkout = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
headers = sorted(header for room in ROOMS for header in (checkout / room).rglob("*.hpp"))
value = hashlib.sha256()
for header in headers:
    text = header.read_bytes()
    for room in re.findall(r'^#include "((?:experiments/)?\w+)/', text.decode(), re.M):
        if room not in ROOMS:
            sys.exit(f"{header} includes a header of {room}, which belongs into ROOMS of {__file__}")
    value.update(f"{header.relative_to(checkout)} {len(text)}\n".encode() + text)
text = f'#pragma once\n\n#define HEED_ENGINE_INTERFACE "{value.hexdigest()[:32]}"\n'
if not output.exists() or output.read_text(encoding="utf-8") != text:
    output.write_text(text, encoding="utf-8")
escaped = " ".join(str(header).replace(" ", "\\ ") for header in headers)
depfile.write_text(f"{sys.argv[1]}: {escaped}\n", encoding="utf-8")
