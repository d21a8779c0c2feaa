#!/usr/bin/env python3
"""The C++ code of docs/engine.md stands in a test (tests/layers/engine_primer_test.cpp), line by line and in its order.

Usage: primer_test.py CHECKOUT
"""

import pathlib
import re
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from tap import run_case  # noqa: E402

CHECKOUT = pathlib.Path(sys.argv[1])


def code_lines(text):
    return [line.strip() for line in text.splitlines() if line.strip()]


class Primer(unittest.TestCase):
    def test_each_block_stands_in_the_test(self):
        page = (CHECKOUT / "docs/engine.md").read_text(encoding="utf-8")
        blocks = re.findall(r"^```cpp\n(.*?)^```", page, re.M | re.S)
        self.assertEqual(len(blocks), 2)
        tried = iter(code_lines((CHECKOUT / "tests/layers/engine_primer_test.cpp").read_text(encoding="utf-8")))
        for line in code_lines("".join(blocks)):
            self.assertIn(line, tried, "not in the test, or not in this order")


if __name__ == "__main__":
    run_case(Primer)
