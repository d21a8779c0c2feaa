#!/usr/bin/env python3
"""`heed new`: the config of every kind passes `heed check` as it is written and runs, and nothing is overwritten. Prints
TAP. Usage: new_config_test.py HEED"""

import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import tomllib
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from tap import attempt, run, run_case  # noqa: E402

HEED = str(pathlib.Path(sys.argv[1]).resolve())
TASKS = re.findall(r"^  (\w+)$", run([HEED, "variants", "task"]), re.M)
OWN = {"text": "text", "pairs": "translation", "labels": "labelled_text", "images": "images"}
GENERATED = [task for task in TASKS if task not in OWN.values()]
SHORT = ["train.steps=2", "train.warmup=0", "sweep.seeds=[0]"]
SENTENCES = [f"{who} {what} {where}" for who in ("we", "you", "they") for what in ("see", "find", "hear", "miss")
             for where in ("a house", "no road", "the sea", "two trees")]


def images(folder: pathlib.Path) -> None:
    """MNIST's four files, with 40 images of 8 x 8 pixels in each part."""
    folder.mkdir()
    for part, first in (("train", 0), ("t10k", 40)):
        pixels = bytes((i * 3 + j * (i % 3)) % 256 for i in range(first, first + 40) for j in range(64))
        (folder / f"{part}-images-idx3-ubyte").write_bytes(struct.pack(">4I", 0x803, 40, 8, 8) + pixels)
        (folder / f"{part}-labels-idx1-ubyte").write_bytes(struct.pack(">2I", 0x801, 40) +
                                                           bytes(i % 3 for i in range(40)))


class New(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.place = pathlib.Path(folder.name)

    def heed(self, *words: str) -> subprocess.CompletedProcess:
        return attempt([HEED, *words], cwd=self.place)

    def write(self, name: str, lines: list[str]) -> None:
        (self.place / name).write_text("".join(line + "\n" for line in lines), encoding="utf-8")

    def put_data(self) -> None:
        """The files that configs name where no path was given."""
        self.write("text.txt", SENTENCES * 40)
        self.write("pairs.tsv", [f"{s}\t{s[::-1]}" for s in SENTENCES])
        self.write("labels.csv", ["text,label"] + [f"{s},{'far' if 'sea' in s else 'near'}" for s in SENTENCES])
        images(self.place / "images")

    def accepted(self, file: str) -> dict:
        """The config, which `heed check` accepts without a note."""
        done = self.heed("check", file)
        self.assertEqual((done.returncode, done.stderr), (0, ""), f"{file}: {done.stdout}{done.stderr}")
        return tomllib.loads((self.place / file).read_text(encoding="utf-8"))

    def test_a_config_of_each_generated_task_is_accepted_as_written(self) -> None:
        self.assertIn("reverse", GENERATED)
        for task in GENERATED:
            done = self.heed("new", task)
            self.assertEqual(done.returncode, 0, done.stderr)
            config = self.accepted(f"{task}.toml")
            self.assertEqual(config["task"]["kind"], task)
            self.assertEqual(len(config["sweep"]["seeds"]), 6)
            self.assertGreater(config["report"]["margin"], 0)
            self.assertIn("metric", config["report"])

    def test_a_config_of_each_kind_of_data_is_accepted_once_the_file_is_there(self) -> None:
        for word in OWN:
            done = self.heed("new", word)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("data.path", done.stdout)
            missing = self.heed("check", f"{word}.toml")
            self.assertEqual(missing.returncode, 2)
            self.assertIn("path", missing.stderr)
        self.put_data()
        for word, task in OWN.items():
            self.assertEqual(self.accepted(f"{word}.toml")["task"]["kind"], task)

    def test_the_names_of_tasks_are_accepted_too(self) -> None:
        self.put_data()
        for word, task in OWN.items():
            self.heed("new", task, "--output", f"{task}-by-task.toml")
            self.assertEqual(self.accepted(f"{task}-by-task.toml")["name"], word)

    def test_every_setting_has_a_comment_and_every_line_is_short(self) -> None:
        for kind in [*OWN, *GENERATED]:
            lines = run([HEED, "new", kind, "--output", "-"], cwd=self.place).splitlines()
            blocks = lines.index("[[sweep.block]]")
            for before, line in zip(lines, lines[1:blocks]):
                self.assertLessEqual(len(line), 100 + len(HEED), line)
                if re.match(r"\w+ = ", line):
                    self.assertTrue(before.startswith("# "), f"{kind}: {line} has no comment")
        self.assertEqual(list(self.place.iterdir()), [])

    def test_the_options_of_the_task_come_from_its_table(self) -> None:
        """All of them are there, with their defaults; those without effect are comments."""
        for task in GENERATED:
            text = run([HEED, "new", task, "--output", "-"])
            for name, value in re.findall(rf"^      task\.{task}\.(\w+) = (.*?):", run([HEED, "variants", task]), re.M):
                self.assertRegex(text, rf"(?m)^(# )?{name} = {re.escape(value)}$")

    def test_files_of_data_fill_the_config_in(self) -> None:
        self.write("a b.txt", SENTENCES * 40)
        self.write("en.txt", SENTENCES)
        self.write("back.txt", [s[::-1] for s in SENTENCES])
        self.write("reviews.csv", ["id,stars,review"] + [f"{i},{i % 2},\"{s}, {s}\"" for i, s in enumerate(SENTENCES)])
        self.write("bare.tsv", [f"{i % 3}\t{s}" for i, s in enumerate(SENTENCES)])
        images(self.place / "digits")
        expected = {
            ("text", "a b.txt"): {}, ("pairs", "en.txt", "back.txt"): {"target": "back.txt"},
            ("labels", "reviews.csv"): {"text": "review", "label": "stars", "header": True, "format": "csv"},
            ("labels", "bare.tsv"): {"text": "2", "label": "1", "header": False, "format": "tsv"},
            ("images", "digits"): {}}
        for number, (words, values) in enumerate(expected.items()):
            file = f"{number}.toml"
            done = self.heed("new", *words, "--output", file)
            self.assertEqual(done.returncode, 0, done.stderr)
            config = self.accepted(file)
            self.assertEqual(config["data"]["path"], words[1])
            options = config["task"].get(config["task"]["kind"], {})
            self.assertEqual(values, {name: options[name] for name in values})

    def test_pairs_without_blanks_are_read_by_characters(self) -> None:
        for lines, tokens in (([f"{'ab' * (i % 4)}c\tc{'ba' * (i % 4)}" for i in range(60)], "characters"),
                              ([f"a b {i % 5}\tb a" for i in range(60)], "words")):
            self.write("pairs.tsv", lines)
            done = self.heed("new", "pairs", "pairs.tsv", "--output", f"{tokens}.toml")
            self.assertEqual(done.returncode, 0, done.stderr)
            config = self.accepted(f"{tokens}.toml")
            self.assertEqual(config["data"]["tokens"], tokens)
            self.assertEqual("max_vocabulary" in config["data"], tokens == "words")

    def test_data_that_does_not_fit_is_refused(self) -> None:
        self.write("plain.txt", SENTENCES)
        for words, said in [(("pairs", "plain.txt"), "plain.txt:1: there is no tab"),
                            (("labels", "a\nb.csv"), "control character"),
                            (("text", "nowhere.txt"), "nowhere.txt: this file does not exist"),
                            (("text", "."), "this is a folder"), (("images", "plain.txt"), "this is a file"),
                            (("text", "plain.txt", "plain.txt"), "2 files"),
                            (("copy", "plain.txt"), "generates its examples")]:
            done = self.heed("new", *words, "--output", "new.toml")
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertIn(said, done.stderr)
            self.assertFalse((self.place / "new.toml").exists())

    def test_an_existing_file_is_refused_and_unchanged(self) -> None:
        self.write("copy.toml", ["mine"])
        (self.place / "sort.toml").symlink_to("nowhere.toml")
        for task in ("copy", "sort"):
            done = self.heed("new", task)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"{task}.toml: this file exists", done.stderr)
            self.assertIn(f"new {task} --output OTHER.toml", done.stderr)
        self.assertEqual((self.place / "copy.toml").read_text(), "mine\n")
        self.assertFalse((self.place / "nowhere.toml").exists())

    def test_an_unknown_kind_gets_the_nearest_and_the_list(self) -> None:
        done = self.heed("new", "revers")
        self.assertEqual(done.returncode, 2)
        self.assertIn("did you mean 'reverse'?", done.stderr)
        for kind in [*OWN, *GENERATED]:
            self.assertIn(kind, done.stderr)

    def test_it_says_what_to_do_next_and_that_works(self) -> None:
        done = self.heed("new", "reverse", "--output", "my file.toml")
        lines = re.findall(r"^  (\S+) (check|run) '(my file\.toml)'", done.stdout, re.M)
        self.assertEqual([line[1] for line in lines], ["check", "run"])
        trained = self.heed("run", "my file.toml", "task.validation=32", *SHORT)
        self.assertEqual(trained.returncode, 0, trained.stderr)
        self.assertIn("5 of 5 runs finished", trained.stdout)

    def test_a_config_of_each_kind_of_data_runs(self) -> None:
        self.put_data()
        for word in OWN:
            self.heed("new", word)
            trained = self.heed("run", f"{word}.toml", *SHORT)
            self.assertEqual(trained.returncode, 0, trained.stderr)
            self.assertIn("5 of 5 runs finished", trained.stdout)

    def test_a_header_of_pairs_is_noted(self) -> None:
        def noted(lines: list[str], *more: str) -> bool:
            (self.place / "pairs.tsv").write_text("\n".join(lines) + "\n")
            for config in self.place.glob("*.toml"):
                config.unlink()
            done = self.heed("new", "pairs", "pairs.tsv", *more, "--output", "pairs.toml")
            self.assertEqual(done.returncode, 0, done.stderr)
            said = "look like names of columns" in " ".join(done.stderr.split())
            written = " ".join((self.place / "pairs.toml").read_text().replace("\n#", "").split())
            self.assertEqual("look like names of columns" in written, said)
            return said
        rows = ["a b\tc d", "e f\tg h", "1\t2", "i j\tk l"]
        self.assertTrue(noted(["source\ttarget", *rows]))
        self.assertTrue(noted(["Question\tAnswer", "yes\tno", *rows]))
        self.assertTrue(noted(["Deutsch\tфранцузский", *rows])) # words, where all others are texts
        self.assertFalse(noted(["Go.\tVa !", *rows]))
        self.assertFalse(noted(["eins\tone", "zwei\ttwo", *rows]))
        self.assertFalse(noted(["question\tanswer", *rows, "question\tanswer"]))
        self.assertFalse(noted(rows))
        (self.place / "out.txt").write_text("de\na b\nc d\ne f\ng h\n")
        self.assertTrue(noted(["en", "a b", "c d", "e f", "g h"], "out.txt"))


run_case(New)
