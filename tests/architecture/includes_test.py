#!/usr/bin/env python3
"""The rooms' walls: which room includes which, by the table in docs/architecture.md. Usage: includes_test.py CHECKOUT

Includes are what is read in the sources; what the linker alone would see is not looked at.
"""

import pathlib
import re
import sys
import unittest
from dataclasses import dataclass, field

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from tap import run_case  # noqa: E402

CHECKOUT = pathlib.Path(sys.argv[1])
PAGE = "docs/architecture.md"
HEADER = "| room | includes | keeps to itself |"
ROOTS = ["autograd", "options", "layers", "experiments", "python"]
OUTSIDE = re.compile(r"(xsimd|xtensor|xflens|cblas|openblas)\b")  # what autograd/ alone may name
DOOR = "autograd/xtensor.hpp"  # for tests and other people's programs: no source reads xtensor's headers, which are slow


@dataclass
class Room:
    """A row of the table: the rooms that may be included, and the folders whose headers nobody else may include."""
    name: str
    includes: list[str] = field(default_factory=list)
    own: list[str] = field(default_factory=list)


def rooms_of(page: str) -> list[Room]:
    """The rows of the page's table, from the lowest room to the highest."""
    lines = page.splitlines()
    rows = []
    for line in lines[lines.index(HEADER) + 2:]:
        if not line.startswith("|"):
            break
        cells = [re.findall(r"`([^`]+)`", cell) for cell in line.strip("|").split("|")]
        rows.append(Room(cells[0][0].rstrip("/"), [name.rstrip("/") for name in cells[1]], cells[2]))
    return rows


def room_of(path: str) -> str:
    """experiments/sweep/plan.hpp is of the room `sweep`, and autograd/kernels/gemm.hpp of `autograd`."""
    folders = path.split("/")
    return folders[1] if folders[0] == "experiments" and len(folders) > 1 else folders[0]


def table_complaints(rooms: list[Room]) -> list[str]:
    """Arrows of the table itself that point up or nowhere. Where none does, it has no cycle."""
    out, lower = [], set()
    for room in rooms:
        if room.name in lower:
            out.append(f"{PAGE}: two rows for {room.name}")
        out += [f"{PAGE}: {room.name} includes {name}, which is no room below it"
                for name in room.includes if name not in lower]
        lower.add(room.name)
    return out


def cycle(rooms: list[Room]) -> list[str]:
    """Rooms that include each other in a circle, or nothing."""
    includes = {room.name: room.includes for room in rooms}
    done: set[str] = set()

    def walk(name: str, path: list[str]) -> list[str]:
        if name in path:
            return path[path.index(name):] + [name]
        if name not in done:
            for other in includes.get(name, []):
                if found := walk(other, path + [name]):
                    return found
            done.add(name)
        return []

    return next((found for name in includes if (found := walk(name, []))), [])


def include_complaints(rooms: list[Room], sources: dict[str, str]) -> list[str]:
    """What the sources' includes do that the table does not allow, and what it allows that none of them does."""
    by_name = {room.name: room for room in rooms}
    out, used = [], set()
    for file, text in sources.items():
        if "/pch/" in file:
            out += [f"{file}: includes a header of the project" for _ in re.findall(r'^#include "', text, re.M)]
            continue
        room = by_name.get(room_of(file))
        if room is None:
            out.append(f"{file}: {room_of(file)} has no row in {PAGE}")
            continue
        for number, line in enumerate(text.splitlines(), 1):
            found = re.match(r'\s*#\s*include\s*(["<])([^">]+)[">]', line)
            if not found or found[2].startswith("@"):  # a template's, which Meson fills in
                continue
            where = f"{file}:{number}: includes {found[2]}"
            if found[2] == DOOR or (file != DOOR and re.match(r"(xtensor|xtensor-blas|xtl)/", found[2])):
                out.append(f"{where}, which no source may: {DOOR} is for programs around the engine")
                continue
            if found[1] == "<":
                if room.name != "autograd" and OUTSIDE.match(found[2]):
                    out.append(f"{where}, which autograd alone may")
                continue
            other = by_name.get(room_of(found[2]))
            if other is room:
                continue
            if other is None or other.name not in room.includes:
                out.append(f"{where}, and {room.name} may not include {room_of(found[2])}")
                continue
            used.add((room.name, other.name))
            if any(f"/{other.name}/{folder}" in "/" + found[2] for folder in other.own):
                out.append(f"{where}, which {other.name} keeps to itself")
    out += [f"{PAGE}: {room.name} includes {name}, but no file does"
            for room in rooms for name in room.includes if (room.name, name) not in used]
    return out


def sources_of(checkout: pathlib.Path) -> dict[str, str]:
    files = [file for root in ROOTS for file in sorted((checkout / root).rglob("*"))
             if re.search(r"\.[ch]pp(\.in)?$", file.name)]
    return {str(file.relative_to(checkout)): file.read_text(encoding="utf-8") for file in files}


class Walls(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.rooms = rooms_of((CHECKOUT / PAGE).read_text(encoding="utf-8"))

    def test_the_table_points_down_and_has_no_cycle(self):
        self.assertEqual(table_complaints(self.rooms), [])
        self.assertEqual(cycle(self.rooms), [])

    def test_every_room_has_a_row_and_every_row_a_room(self):
        found = {room_of(file) for file in sources_of(CHECKOUT) if "/pch/" not in file}
        self.assertEqual(sorted(room.name for room in self.rooms), sorted(found))
        for room in self.rooms:
            for folder in room.own:
                self.assertTrue((CHECKOUT / room.name / folder).is_dir() or
                                (CHECKOUT / "experiments" / room.name / folder).is_dir(), f"{room.name}: {folder}")

    def test_files_include_what_the_table_says_and_all_of_it(self):
        sources = sources_of(CHECKOUT)
        self.assertGreater(len(sources), 300)
        self.assertEqual(include_complaints(self.rooms, sources), [])

    # The checks themselves, with rooms and files that are made up.

    def test_what_is_allowed_passes(self):
        rooms = rooms_of(made_up_page)
        self.assertEqual(rooms, [Room("autograd", [], ["kernels/"]), Room("config", ["autograd"]),
                                 Room("runs", ["autograd", "config"])])
        self.assertEqual(table_complaints(rooms), [])
        self.assertEqual(include_complaints(rooms, made_up_files), [])

    def complain(self, file: str, text: str, *complaints: str):
        """One more file has these complaints."""
        self.assertEqual(include_complaints(rooms_of(made_up_page), {**made_up_files, file: text}), list(complaints))

    def test_an_arrow_that_points_up_fails(self):
        self.complain("experiments/config/x.hpp", '\n#include "experiments/runs/runs.hpp"\n',
                      "experiments/config/x.hpp:2: includes experiments/runs/runs.hpp, and config may not include runs")
        self.complain("autograd/x.hpp", '#  include "tests/catch.hpp"',
                      "autograd/x.hpp:1: includes tests/catch.hpp, and autograd may not include tests")

    def test_reaching_past_a_door_fails(self):
        self.complain("experiments/config/x.cpp", '#include "autograd/kernels/gemm.hpp"',
                      "experiments/config/x.cpp:1: includes autograd/kernels/gemm.hpp, which autograd keeps to itself")

    def test_libraries_of_the_engine_fail_elsewhere(self):
        self.complain("experiments/config/x.cpp", "#include <cblas.h>",
                      "experiments/config/x.cpp:1: includes cblas.h, which autograd alone may")

    def test_headers_of_xtensor_fail_everywhere_but_in_the_door(self):
        no = "which no source may: autograd/xtensor.hpp is for programs around the engine"
        self.complain("autograd/xtensor.hpp", "#include <xtensor/xarray.hpp>")
        self.complain("autograd/x.cpp", "#include <xtensor/xarray.hpp>",
                      f"autograd/x.cpp:1: includes xtensor/xarray.hpp, {no}")
        self.complain("experiments/config/x.cpp", '#include "autograd/xtensor.hpp"',
                      f"experiments/config/x.cpp:1: includes autograd/xtensor.hpp, {no}")

    def test_a_room_without_a_row_fails(self):
        self.complain("experiments/cellar/x.cpp", "",
                      "experiments/cellar/x.cpp: cellar has no row in docs/architecture.md")

    def test_a_precompiled_header_that_includes_the_project_fails(self):
        self.complain("experiments/pch/x.hpp", "#include <vector>\n")
        self.complain("experiments/pch/x.hpp", '#include "autograd/tape.hpp"\n',
                      "experiments/pch/x.hpp: includes a header of the project")

    def test_an_arrow_that_nothing_uses_fails(self):
        self.complain("experiments/runs/runs.cpp", "",
                      "docs/architecture.md: runs includes autograd, but no file does",
                      "docs/architecture.md: runs includes config, but no file does")

    def test_a_table_that_points_up_or_in_circles_fails(self):
        circle = [Room("low", ["high"]), Room("high", ["low"])]
        self.assertEqual(table_complaints(circle), [f"{PAGE}: low includes high, which is no room below it"])
        self.assertEqual(cycle(circle), ["low", "high", "low"])
        self.assertEqual(len(table_complaints([Room("low", ["low"]), Room("low")])), 2)
        self.assertEqual(cycle([Room("a"), Room("b", ["a"]), Room("c", ["a", "b"])]), [])


made_up_page = "\n".join([
    "# Page", "", HEADER, "|---|---|---|", "| `autograd/` | | `kernels/` |", "| `config/` | `autograd` | |",
    "| `runs/` | `autograd`, `config` | |", "", "| another | table |"])
made_up_files = {
    "autograd/tape.cpp": '#include "autograd/kernels/gemm.hpp"\n#include <xsimd/xsimd.hpp>\n',
    "experiments/config/config.cpp": '#include "autograd/tape.hpp"\n#include <vector>\n',
    "experiments/runs/runs.cpp": '#include "autograd/tape.hpp"\n#include "experiments/config/config.hpp"\n'}

if __name__ == "__main__":
    run_case(Walls)
