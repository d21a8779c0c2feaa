#!/usr/bin/env python3
"""Mutation testing of a small program. Prints TAP. Usage: mutation_test.py COMPILER..."""

import contextlib
import dataclasses
import io
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import mutants  # noqa: E402
import sources  # noqa: E402
from tap import Points, attempt, run  # noqa: E402

compiler = sys.argv[1:]
points = Points()

# Each line's exchanges follow it. What has none: comments, texts, directives, types, constants of the compiler.
PLACES = r"""
#include <vector>
#define TWICE(x) (2 * (x))
int a = b + 1;  //                          + -|*|/, 1 2|0
/* 1 + 2 */ const char* text = "3 < 4" R"(5 + 6)";
std::vector<std::pair<int, 3>> v(7, x * 2.5); //   7 8|6|0, * +|-|/, 2.5 5.0
template <int N = 4> void f(const T& x, Real* y, T&& z);
bool c = p && !q || *r == -1; //            && ||, ! !!, OR &&, == !=, - , 1 2|0
constexpr int d = 5 + 6;
static_assert(sizeof(int) == 4);
#if 0
int g = 1 + 2;
#endif
while (--n > 0) m += std::min(n, 0x1F); //  -- ++, > <|<=|>=, 0 1, += -=|*=|/=, min max, 0x1F 0x20|0x1e|0x0
int w = std::numeric_limits<int>::max() / 1'000u; //  max min, / +|-|*, 1'000u 1001u|999u|0u
bool operator<(int, int); bool t = true; // true false
auto k = [=](int i) { return i << 1 & i % 3; };  // << >>, 1 2|0, & OR|^, % +|-|*|/, 3 4|2|0
"""

# Statements and expressions of all kinds, without a loop that any mutant makes endless: each mutant's value is compared with that of a text that has it in plain words.
PROGRAM = r"""
inline int value(int n, int m) {
  int sum = 0;
  std::map<int, int> list{{0, 1}, {1, n}, {2, m + 1}};
  for (signed char i = 0; i < n; ++i) sum += i * m - 1;
  if (n > 3 && m != 2) sum -= 5;
  if (!(n < m)) {
    sum += list[n % 3];
  }
  sum *= n >= m ? 2 : -n;
  const auto add = [&](int x) { return x + sum / (m * m + 1); };
  std::vector<int> all{add(1), std::max(n, m), static_cast<int>(0.5 * n)};
  for (int x : all) sum = sum << 1 ^ x;
  signed char rest = 17;
  do --rest; while (rest > 4);
  sum += rest;
  return n == m || sum <= 7 ? add(sum) + (n - 1) * m
                            : std::min(sum, // of two
                                       m);
}
"""
ARGUMENTS = [(0, 0), (1, 4), (3, 2), (4, 4), (5, 3)]


def exchanges(text):
    return [(m.line, m.before, m.choices) for m in sources.Source("places.cpp", text).mutants()]


def stated(text):
    """What the comments of PLACES say."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        words = re.search(r"// +(\S.*)", line)
        for pair in words.group(1).split(", ") if words else []:
            before, _, after = pair.strip().partition(" ")
            found.append((number, before.replace("OR", "||" if "||" in line.split("//")[0] else "|"),
                          after.replace("OR", "\0").split("|") if after != "||" else [after]))
    return [(line, before, [word.replace("\0", "|") for word in words]) for line, before, words in found]


with points.point("places are found where tokens are code that runs"):
    assert exchanges(PLACES) == stated(PLACES), f"\n{exchanges(PLACES)}\n{stated(PLACES)}"

with points.point("other numbers are of the same kind"):
    others = {"0": ["1"], "1": ["2", "0"], "41u": ["42u", "40u", "0u"], "0xFFull": ["0x100ull", "0xfeull", "0x0ull"],
              "1'999": ["2000", "1998", "0"], "0.5": ["1.0"], "0.0": ["1.0"], "3e2f": ["600.0f"]}
    assert {n: sources.other_numbers(n) for n in others} == others


def with_mains(text, functions):
    calls = " ".join(f'std::printf("%d ", {name}({n}, {m}));' for name in functions for n, m in ARGUMENTS)
    return "#include <algorithm>\n#include <cstdio>\n#include <map>\n#include <vector>\n" + text + "int main() {" + calls + "}\n"


with tempfile.TemporaryDirectory() as place:
    folder = pathlib.Path(place)
    source = sources.Source("program.cpp", PROGRAM)
    found = [dataclasses.replace(mutant, after=after) for mutant in source.mutants() for after in mutant.choices]
    for number, mutant in enumerate(found, 1):
        mutant.number = number
    header = str(pathlib.Path(__file__).resolve().parent / "switch.hpp")

    def compiled(name, text):
        (folder / f"{name}.cpp").write_text(text)
        run([*compiler, "-std=c++20", "-O1", "-w", "-fwrapv", str(folder / f"{name}.cpp"), "-o", str(folder / name)])
        return str(folder / name)

    with points.point("the switch puts each mutant in the place of its token, and nothing else"):
        plain = ""
        for mutant in found:
            token = source.tokens[mutant.token]
            text = PROGRAM[:token.begin] + mutant.after + PROGRAM[token.end:]
            plain += text.replace("value", f"value_{mutant.number}", 1)
        # A loop without end, or a division by zero, has no value to be compared: each in a process of its own.
        plain = "#include <cstdlib>\n" + plain
        table = ", ".join(f"value_{m.number}" for m in found)
        texts = f"int (*const table[])(int, int) = {{{table}}};\n"
        body = " ".join(f'std::printf("%d ", f({n}, {m})); std::fflush(stdout);' for n, m in ARGUMENTS)
        plain_program = compiled("plain", "#include <algorithm>\n#include <cstdio>\n#include <map>\n#include <vector>\n" + plain + texts +
                                 "int main(int, char** words) { auto* f = table[std::atoi(words[1]) - 1]; " + body + "}\n")
        switched = compiled("switched", with_mains(source.switched(found, header), ["value"]))

        def output(command, **environment):
            limited = ["sh", "-c", 'ulimit -t 1 -v 1000000; exec "$@"', "sh", *command]
            done = attempt(limited, env=os.environ | environment)
            return done.stdout, done.returncode == 0

        different = 0
        unchanged = output([switched])
        for mutant in found:
            number = str(mutant.number)
            expected, here = output([plain_program, number]), output([switched], HEED_MUTANT=number)
            assert here[1] == expected[1] and (here == expected or not here[1]), \
                f"{mutants.where(mutant)}: {here}, {expected}"
            different += here != unchanged
        assert unchanged[1] and different > 0.8 * len(found), f"{different} of {len(found)}"

    with points.point("what is evaluated without a mutant is marked"):
        marks = folder / "marks"
        marks.write_bytes(bytes(len(found) + 1))
        assert output([switched], HEED_MUTANTS_REACHED=str(marks)) == unchanged
        assert sum(marks.read_bytes()) == len(found)

# ---- all of it -----------------------------------------------------------------------------------------------------

FILES = {
    "meson.build": """project('toy', 'cpp', default_options : ['cpp_std=c++20'])
root = include_directories('.')
test('toy', executable('test_toy', 'toy/toy.cpp', 'test.cpp', include_directories : root), protocol : 'tap',
  suite : 'toy')
""",
    "toy/toy.hpp": """#pragma once
#include <string>
int doubled(int n);
bool large(int n);
inline int nowhere(int n) { return n * 2; }
int unused(int n);
std::string joined(const std::string& a, const std::string& b);
int last(int n);
""",
    "toy/toy.cpp": """#include "toy/toy.hpp"
int doubled(int n) { return n + n; }
bool large(int n) { return n > 10; }
int unused(int n) { return n * 2; }
std::string joined(const std::string& a, const std::string& b) { return a + b; }
int last(int n) {
  while (n >= 2) n -= 1;
  return n;
}
""",
    "test.cpp": """#include "toy/toy.hpp"
#include <cstdio>
void point(bool holds) { std::puts(holds ? "ok 1 - toy" : "not ok 1 - toy"); }
int main() {
  point(doubled(3) == 6 && large(12) && !large(3) && joined("a", "b") == "ab" && last(4) == 1);
  std::puts("1..1");
}
"""}
fence = bool(shutil.which("unshare")) and mutants.fence_works()
WHAT = "mutants of a checkout: drawn, compiled, caught or not"
if not fence or not shutil.which("git"):
    points.count += 1
    print(f"ok {points.count} - {WHAT} # SKIP {'git is missing' if fence else 'processes get no namespaces here'}")
else:
    with points.point(WHAT), tempfile.TemporaryDirectory() as place:
        checkout = pathlib.Path(place) / "checkout"
        for name, text in (FILES | {mutants.HEADER: (mutants.ROOT / mutants.HEADER).read_text()}).items():
            (checkout / name).parent.mkdir(parents=True, exist_ok=True)
            (checkout / name).write_text(text)
        run(["git", "init", "-q", str(checkout)])
        mutants.ROOT, mutants.FOLDERS = checkout, {"toy": ["toy"]}
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            mutants.main(["--count", "100", "--seed", "3", "--jobs", "2", "--build", str(pathlib.Path(place) / "mutants")])
        record = json.loads((pathlib.Path(place) / "mutants/mutants.json").read_text())
        text = said.getvalue()
        # Which exchange a place gets is drawn; these are noticed by nobody, or not evaluated, and all others are noticed.
        unnoticed = {"n >= 10", "n > 11", "n > 9"}
        unreached = {"n + 2", "n - 2", "n / 2", "n * 3", "n * 1", "n * 0"}
        fates = {what.removeprefix("toy/toy.cpp: ").removesuffix(" (1)"): fate for what, fate in record["fates"].items()}
        assert len(fates) == 9 and len(record["dropped"]) == 1 and len(record["absent"]) == 2, text
        assert all(what.startswith("toy/toy.hpp: n") for what in record["absent"]), text
        for what, fate in fates.items():
            assert fate["tests"] == (what not in unreached), what
            assert fate["caught"] == (None if what in unnoticed | unreached else "toy"), what
        caught = sum(fate["caught"] is not None for fate in fates.values())
        assert f"| `toy/` | 12 | 9 | {caught} | {100 * caught / 9:.1f} % |" in text and 5 <= caught <= 7, text
points.plan()
