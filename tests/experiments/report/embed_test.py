#!/usr/bin/env python3
"""The page's files get into the program wherever the checkout lies. Prints TAP. Usage: embed_test.py EMBED.PY"""

import pathlib
import re
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from tap import Points, run  # noqa: E402

points = Points()
for name in ("plain", "a,b", "a b", "a=b", "it's \"here\""):
    with points.point(f"in a folder called {name}"), tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place) / name
        folder.mkdir()
        words = []
        for file, text in (("one.js", "first\n"), ("two,too.js", "second\n"), ("page.html", "x" * 20_000)):
            (folder / file).write_text(text)
            words.append(f"{'page' if file.endswith('html') else 'script'}={folder / file}")
        run([sys.executable, sys.argv[1], folder / "out.cpp", *words])
        found = dict(re.findall(r"string_view (\w+) =\n(.*?);\n", (folder / "out.cpp").read_text(), re.S))
        contents = {key: "".join(re.findall(r'R"page\((.*?)\)page"', text, re.S)) for key, text in found.items()}
        assert contents == {"script": "first\nsecond\n", "page": "x" * 20_000}, contents.keys()
points.plan()
