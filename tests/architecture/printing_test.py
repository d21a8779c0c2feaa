#!/usr/bin/env python3
"""Whatever is printed passes through the console, which shows commands to terminals instead of sending them. What Python
prints passes through heed/_messages.py, and the texts of reports through report/shown_texts.cpp.
Usage: printing_test.py CHECKOUT"""

import ast
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
    "experiments/command_line/console.cpp": "asks the terminal for its size",
    "experiments/runs/worker.cpp": "say(), which writes a run's log through without_controls()",
    "experiments/runs/worker.hpp": "where say() writes unless it is told otherwise",
    "experiments/launch/local_launcher.cpp": "joins a worker's streams to its log",
    "experiments/system/child.cpp": "reads what another program prints",
    "experiments/engines/engine_module.cpp": "joins the compiler's output to its errors",
}

# In Python: who prints and warns.
AROUND_IN_PYTHON = re.compile(r"print|warnings\.warn(_explicit)?|os\.write|logging\..*|"
                              r"sys\.(__)?std(out|err)(__)?\.(buffer\.)?write(lines)?")
PYTHON_ALLOWED = {"python/heed/_messages.py": "the one module that prints and warns"}
# Where reports' texts lose their control characters. Whoever else does it by himself forgets a text.
ESCAPES = re.compile(r"\bwithout_controls\(")
ESCAPING = {
    "experiments/report/shown_texts.cpp": "all texts of a report",
    "experiments/report/markdown.cpp": "configurations, which reports keep as they are",
    "experiments/results/result_table.cpp": "shown_name() and shown_text(), for names and messages",
    "python/bindings/bindings.hpp": "safe_text(), for all texts that cross to Python",
    "python/bindings/reports.cpp": "a report that is written to a terminal",
    "python/bindings/sweeps.cpp": "a configuration's file name, which becomes a sweep's",
}
# A table's columns have the names that its file gives them.
RAW_COLUMNS = re.compile(r"(?<!shown_name\()(?<!shown_text\()\btable_?\.columns\[")
COLUMNS_ALLOWED = {
    ("experiments/results/result_columns.cpp", "table.columns[i]"): "finds a column by its name",
    ("experiments/results/result_columns.cpp", "table.columns[column] =="): "finds a column by its name",
    ("experiments/results/result_table.cpp", "table.columns[i]"): "finds a name that two columns have",
    ("experiments/results/wide_runs.cpp", "run_of_column("): "finds a column by its name",
    ("experiments/results/result_runs.cpp", "out.metrics.push_back("): "compared with --metric; metrics_of_table shows it",
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


def sources_in(roots: list, pattern: str) -> dict:
    return {str(file.relative_to(CHECKOUT)): file.read_text(encoding="utf-8")
            for root in roots for file in sorted((CHECKOUT / root).rglob(pattern))}


def complaints_of_python(sources: dict) -> list:
    return [f"{file}:{node.lineno}: {ast.unparse(node.func)} goes around _messages.py"
            for file, text in sources.items() if file not in PYTHON_ALLOWED for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.Call) and AROUND_IN_PYTHON.fullmatch(ast.unparse(node.func))]


def raw_texts(file: str, source: str) -> list:
    """The classes whose texts can have commands: __str__ and __repr__ return shown(...)."""
    out = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef) and node.name in ("__str__", "__repr__"):
            for part in ast.walk(node):
                if isinstance(part, ast.Return):
                    value = part.value
                    if not (isinstance(value, ast.Call) and getattr(value.func, "id", "") in ("shown", "str")):
                        out.append(f"{file}:{part.lineno}: {node.name} returns a text without shown()")
    return out


def raw_columns(sources: dict) -> list:
    return [f"{file}:{number}: a column's name without shown_name()" for file, text in sources.items()
            for number, line in enumerate(without_comments(text).splitlines(), 1) if RAW_COLUMNS.search(line)
            and not any(file == allowed and word in line for allowed, word in COLUMNS_ALLOWED)]


class Printing(unittest.TestCase):
    maxDiff = None

    def test_all_that_python_prints_passes_through_one_module(self):
        sources = sources_in(["python/heed"], "*.py")
        self.assertGreater(len(sources), 10)
        self.assertEqual(complaints_of_python(sources), [])
        self.assertEqual([line for file, text in sources.items() for line in raw_texts(file, text)], [])

    def test_one_module_escapes_the_texts_of_reports(self):
        sources = sources_in(["experiments/report", "experiments/results", "python"], "*.[ch]pp")
        self.assertGreater(len(sources), 80)
        escaping = {file for file, text in sources.items() if ESCAPES.search(without_comments(text))}
        self.assertEqual(escaping, set(ESCAPING))

    def test_names_of_columns_are_shown(self):
        self.assertEqual(raw_columns(sources_in(["experiments/results"], "*.cpp")), [])
        line = "out += table.columns[i];"
        self.assertEqual(len(raw_columns({"experiments/results/x.cpp": line})), 1)
        self.assertEqual(raw_columns({"experiments/results/x.cpp": "out += shown_name(table.columns[i]);"}), [])

    def test_the_check_sees_what_python_prints(self):
        for line in ("print(x)", "sys.stderr.write(x)", "warnings.warn(x)", "os.write(2, x)"):
            self.assertEqual(len(complaints_of_python({"python/heed/x.py": line})), 1, line)
        self.assertEqual(complaints_of_python({"python/heed/x.py": "tell(x)  # no print(x)\nsys.stderr.isatty()"}), [])
        self.assertEqual(len(raw_texts("x.py", "class A:\n  def __repr__(self):\n    return f'{self.name}'\n")), 1)
        self.assertEqual(raw_texts("x.py", "class A:\n  def __repr__(self):\n    return shown(self.name)\n"), [])

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
