#!/usr/bin/env python3
"""Whatever is printed passes through the console, which shows commands to terminals instead of sending them.
Usage: printing_test.py CHECKOUT"""

import pathlib
import re
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from tap import run_case  # noqa: E402

CHECKOUT = pathlib.Path(sys.argv[1])
ROOTS = ["autograd", "options", "layers", "experiments", "python"]
AROUND = re.compile(r"\b(cout|cerr|clog|wcout|wcerr|stdout|stderr|STDOUT_FILENO|STDERR_FILENO)\b|"
                    r"\b([fv]?printf|vfprintf|v?dprintf|puts|fputs|putchar|fputc|putc|fwrite|perror|psignal|syslog)\(|"
                    r"fmt::(v?print|println)\b|\bwrite\(\s*[12]\b|/dev/(tty|stdout|stderr)")
ALLOWED = {
    "experiments/command_line/console.cpp": "where the console gets the process's streams, and asks whether they are "
                                            "terminals",
    "experiments/command_line/run_display.cpp": "asks the terminal for its size",
    "experiments/command_line/terminal_size.cpp": "asks the terminal for its size",
    "experiments/runs/worker.cpp": "say(), which writes a run's log through without_controls()",
    "experiments/runs/worker.hpp": "where say() writes unless it is told otherwise",
    "experiments/launch/local_launcher.cpp": "joins a worker's streams to its log",
    "experiments/system/child.cpp": "reads what another program prints",
    "experiments/engines/engine_module.cpp": "joins the compiler's output to its errors",
}


def without_comments(text: str) -> str:
    """The lines of a C++ source without what follows // in them."""
    return "\n".join(line.split("//")[0] for line in text.splitlines())


def complaints(sources: dict) -> list:
    found = {file: [f"{file}:{number}: {match[0]} goes around the console"
                    for number, line in enumerate(without_comments(text).splitlines(), 1)
                    for match in AROUND.finditer(line)]
             for file, text in sources.items()}
    return ([line for file, lines in found.items() if file not in ALLOWED for line in lines] +
            [f"{file} needs no exception" for file in ALLOWED if not found.get(file)])


class Printing(unittest.TestCase):
    maxDiff = None

    def test_all_that_is_printed_passes_through_the_console(self):
        sources = {str(file.relative_to(CHECKOUT)): file.read_text(encoding="utf-8")
                   for root in ROOTS for file in sorted((CHECKOUT / root).rglob("*.[ch]pp"))}
        self.assertGreater(len(sources), 300)
        self.assertEqual(complaints(sources), [])

    def test_the_check_sees_what_goes_around(self):
        for line in ("std::cout << x;", "fmt::print(\"{}\", x);", "std::fprintf(stderr, \"x\");", "::write(1, x, 2);",
                     "std::puts(x);", "open(\"/dev/tty\")"):
            self.assertTrue(complaints({"experiments/x.cpp": f"// a line\n{line}"})[0]
                            .startswith("experiments/x.cpp:2: "), line)
        seen = complaints({"experiments/x.cpp": "print(console.out, \"{}\", x); // not std::cout\nfmt::format(x);"})
        self.assertFalse([line for line in seen if line.startswith("experiments/x.cpp")])


if __name__ == "__main__":
    run_case(Printing)
