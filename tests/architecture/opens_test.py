#!/usr/bin/env python3
"""Who opens files: rooms that deal with output folders, which somebody else may have made, reach what lies there through
system/output_file.hpp alone, which follows no link, opens regular files alone and waits for nobody. Usage: opens_test.py
CHECKOUT

So does the Python package, whose bindings and modules call these rooms. What stands here reaches files in another way, with what and why that is no file of an output folder."""

import pathlib
import re
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from tap import run_case  # noqa: E402

CHECKOUT = pathlib.Path(sys.argv[1])
ROOMS = ["metrics", "runs", "index", "launch", "sweep", "report", "exports", "actions", "command_line"]
OTHER_WAYS = re.compile(
    r"(?<![\w.>:])(?:read_file|read_beginning|write_file|append_line|remove_file|make_folder|remove_leftovers|"
    r"synchronise_file)\(|FileParts::open\(|(?<![\w.])NewFile\(|(?<!\w)::(?:open|openat|creat|mkdir|unlink|rename|link|"
    r"symlink|opendir|fopen|freopen|stat|lstat)\(|\bfopen\(|\b[io]?fstream\b|directory_iterator|sqlite3_open|"
    r"(?:fs|filesystem)::(?:exists|file_size|last_write_time|is_\w+|remove\w*|rename|copy\w*|create_\w+|status|"
    r"symlink_status|resize_file|read_symlink)\(")

PYTHONS_WAYS = re.compile(
    r"\bopen\(|\b(?:read|write)_(?:text|bytes)\(|\b(?:unlink|mkdir|rmdir|iterdir|r?glob|rename|touch)\(|"
    r"\bos\.(?:remove|rename|replace|walk|listdir|scandir|makedirs|path\.\w+)\b|\bshutil\.(?!get_terminal_size)|\btempfile\.|"
    r"\.(?:exists|is_file|is_dir|is_symlink|l?stat)\(")

# The file, and a word that its line has.
EXCEPTIONS = {
    ("index/database.cpp", "sqlite3_open"): "of an index, in the user's own folder (index/index_place.hpp)",
    ("index/index_place.cpp", "::open("): "the output folder itself; its files are looked at without following links",
    ("index/index_place.cpp", "directory_iterator"): "the user's own folder",
    ("index/index_place.cpp", "read_file("): "the user's own folder",
    ("index/index_place.cpp", "fs::exists("): "the user's own folder",
    ("index/index_place.cpp", "fs::remove_all("): "the user's own folder",
    ("index/index_place.cpp", "write_file("): "the user's own folder",
    ("index/run_index.cpp", "read_file("): "the user's own folder",
    ("index/run_index.cpp", "write_file("): "the user's own folder",
    ("index/run_index.cpp", "filesystem::remove("): "the user's own folder",
    ("runs/run_folder.cpp", "::opendir("): "the names in the output folder itself",
    ("runs/run_folder.cpp", "fs::exists("): "a path that the user named, which may lead through links",
    ("runs/run_folder.cpp", "fs::is_symlink("): "a path that the user named",
    ("sweep/plan.cpp", "fs::exists("): "a path that the user named, which may lead through links",
    ("sweep/plan.cpp", "fs::is_symlink("): "a path that the user named",
    ("launch/slurm_settings.cpp", "fs::exists("): "the user's settings",
    ("launch/slurm_settings.cpp", "read_file("): "the user's settings",
    ("command_line/commands/attend.cpp", "make_folder("): "a folder that the user named, for arrays",
    ("command_line/commands/variants.cpp", "make_folder("): "a folder that the user named, for pictures",
    ("command_line/commands/compare.cpp", "read_file("): "a table that the user named",
    ("actions/difference_of_runs.cpp", "filesystem::is_directory("): "a word of the command line",
    ("command_line/commands/evaluate.cpp", "filesystem::symlink_status("): "a file that the user named",
    ("command_line/commands/inspect.cpp", "filesystem::is_regular_file("): "a word of the command line",
    ("command_line/commands/new.cpp", "filesystem::exists("): "a file that the user named",
    ("command_line/commands/new.cpp", "write_file("): "a file that the user named, and that does not exist",
    ("command_line/commands/plan.cpp", "write_file("): "a file that the user named, and that does not exist",
    ("command_line/commands/plan.cpp", "filesystem::exists("): "a file that the user named",
    ("command_line/commands/rerun.cpp", "filesystem::remove_all("): "a folder that the command made",
    ("command_line/commands/rerun.cpp", "filesystem::symlink_status("): "the folder that the user named for the new run",
    ("command_line/commands/show.cpp", "filesystem::is_regular_file("): "a word of the command line",
    ("actions/data_guess.cpp", "filesystem::status("): "the user's data",
    ("actions/data_guess.cpp", "filesystem::exists("): "the user's data",
    ("actions/data_guess.cpp", "filesystem::is_directory("): "the user's data",
    ("actions/data_guess.cpp", "read_beginning("): "the user's data",
    ("python/bindings/runs.cpp", "fs::exists("): "the folder or the run that the caller named",
    ("python/bindings/reports.cpp", "read_file("): "a table that the caller named",
    ("python/heed/_compare.py", ".stat("): "a table that the caller named",
    ("python/heed/_mcp.py", "tempfile."): "what a program says on standard error, in a file without a name",
}


def code_of(text: str, comment: str) -> list[str]:
    """A source's lines without comments and texts."""
    return [re.sub(r'"(?:\\.|[^"\\])*"', '""', line).split(comment)[0] for line in text.splitlines()]


def complaints(sources: dict[str, str], exceptions: dict[tuple[str, str], str]) -> list[str]:
    out, used = [], set()
    for file, text in sources.items():
        ways, comment = (PYTHONS_WAYS, "#") if file.endswith(".py") else (OTHER_WAYS, "//")
        place = file if file.startswith("python/") else f"experiments/{file}"
        for number, line in enumerate(code_of(text, comment), 1):
            for found in ways.finditer(line):
                fitting = [key for key in exceptions if key[0] == file and key[1] in line]
                used.update(fitting)
                if not fitting:
                    out.append(f"{place}:{number}: {found[0]} reaches files, and not by system/output_file.hpp")
    out += [f"{file} has no {word} any more: its exception can go" for file, word in exceptions if (file, word) not in used]
    return out


def sources_in(root: pathlib.Path, folders: list[str], pattern: str) -> dict[str, str]:
    return {str(file.relative_to(root)): file.read_text(encoding="utf-8")
            for folder in folders for file in sorted((root / folder).rglob(pattern))}


class Opens(unittest.TestCase):
    maxDiff = None

    def test_files_of_output_folders_are_reached_in_one_way(self):
        sources = sources_in(CHECKOUT / "experiments", ROOMS, "*.[ch]pp")
        self.assertGreater(len(sources), 100)
        sources |= sources_in(CHECKOUT, ["python"], "*.[ch]pp") | sources_in(CHECKOUT, ["python/heed"], "*.py")
        self.assertEqual(complaints(sources, EXCEPTIONS), [])

    # The check itself, with sources that are made up.

    def test_other_ways_are_found(self):
        for line in ('const int fd = ::open(path.c_str(), O_RDONLY);', 'std::ifstream in(run.log());',
                     'if (fs::exists(folder / "x")) return;', 'write_file(run.path / "x", text);',
                     'FILE* f = fopen(name, "w");', 'NewFile(folder / "x").finish();',
                     'for (fs::directory_iterator it(out); ...)', 'auto parts = FileParts::open(path);'):
            self.assertEqual(len(complaints({"runs/x.cpp": line}, {})), 1, line)

    def test_other_ways_of_python_are_found(self):
        for line in ('with open(folder / "x") as file:', 'text = path.read_text()', 'for run in out.iterdir():',
                     'os.remove(path)', 'shutil.rmtree(out)', 'if (out / "x").exists():', 'with path.open("w") as file:'):
            found = complaints({"python/heed/x.py": line}, {})
            self.assertEqual(len(found), 1, line)
            self.assertTrue(found[0].startswith("python/heed/x.py:1: "), found[0])
        for line in ('folder = _heed.find_sweep(out, name)', '# open(path)', 'raise ValueError("open() is a word here")',
                     'name = os.fspath(path)', 'reopen(file)'):
            self.assertEqual(complaints({"python/heed/x.py": line}, {}), [], line)
        self.assertEqual(len(complaints({"python/bindings/x.cpp": "std::ifstream in(path);"}, {})), 1)

    def test_the_one_way_and_words_in_texts_and_comments_pass(self):
        for line in ('run.log().open_to_append();', 'const auto text = run.config().read();', '// ::open( is not for here',
                     'throw Failed("fs::exists( is a word here");', 'folder().make_folder();', 'index.open();',
                     'const auto file = run.metrics().open();', 'file.append_line(text);'):
            self.assertEqual(complaints({"runs/x.cpp": line}, {}), [], line)

    def test_an_exception_holds_for_its_file_and_word_and_must_be_needed(self):
        key = ("runs/x.cpp", "::open(")
        self.assertEqual(complaints({"runs/x.cpp": "::open(a);"}, {key: "why"}), [])
        self.assertEqual(len(complaints({"runs/y.cpp": "::open(a);", "runs/x.cpp": "::open(a);"}, {key: "why"})), 1)
        self.assertEqual(complaints({"runs/x.cpp": ""}, {key: "why"}),
                         ["runs/x.cpp has no ::open( any more: its exception can go"])


if __name__ == "__main__":
    run_case(Opens)
