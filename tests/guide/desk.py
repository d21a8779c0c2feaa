"""A folder that looks like the checkout after a build: what the documents' code is tried in."""

import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tomllib

from tap import run

short_run = ["train.steps=2", "train.evaluate_batches=1", "sweep.seeds=[0, 1]"]
more_for = {
    # So few steps leave no range for the margin of this config.
    "positions.toml": ["report.margin=1"],
    # Beam search over its whole test split takes the wide model's time.
    "configs/papers/scan-transformer.toml": ["model.width=16", "block.ffn_width=16"],
}


def write_digits(folder):
    """A few images in the files of MNIST: IDX, with sizes in the headers."""
    folder.mkdir()
    for part, count in {"train": 20, "t10k": 10}.items():
        sizes = b"".join(n.to_bytes(4, "big") for n in (0x803, count, 28, 28))
        (folder / f"{part}-images-idx3-ubyte").write_bytes(sizes + bytes(i * 7 % 256 for i in range(count * 28 * 28)))
        labels = bytes(i % 10 for i in range(count))
        (folder / f"{part}-labels-idx1-ubyte").write_bytes((0x801).to_bytes(4, "big") + count.to_bytes(4, "big") +
                                                           labels)


# Debian's program of that name, for machines without it.
sqlite_shell = """
import sqlite3, sys
for row in sqlite3.connect(sys.argv[1]).execute(sys.argv[2]): print(*row, sep="|")
"""

# What a reader has to bring, beside a folder `mnist`.
readers_files = {
    "input.txt": "First Citizen:\nBefore we proceed any further, hear me speak.\nROMEO: &c.\n" * 500,
    "pairs.tsv": "".join(f"the {i} cats\tles {i} chats\n" for i in range(200)),
    "reviews.csv": "stars,review\n" + "".join(f'{i % 5},"well, {i}"\n' for i in range(200)),
    "verse.txt": "ROMEO:\nhear me speak.\n" * 50,
    "commands.txt": "jump left twice\nwalk\n",
    "my.toml": 'name = "mine"\n',
}
for part, lines in {"train": 60, "val": 9, "test_2016_flickr": 8}.items():
    readers_files[f"{part}.de"] = "".join(f"ein Mann {i % 7}\n" for i in range(lines))
    readers_files[f"{part}.en"] = "".join(f"a man {i % 7}\n" for i in range(lines))

# Where a config leaves its data's path to the command line, by task.
data_paths = {"text": "input.txt", "images": "mnist"}


def overrides_for(text):
    """What a config of this text needs on the command line beside what it says."""
    config = tomllib.loads(text)
    kind = config.get("task", {}).get("kind")
    return [f"data.path={data_paths[kind]}"] if kind in data_paths and "path" not in config.get("data", {}) else []


class Desk:
    def __init__(self, folder, checkout, build, program):
        self.folder, self.program = pathlib.Path(folder), str(program)
        (self.folder / "bin").mkdir(parents=True)
        shutil.copytree(checkout / "configs", self.folder / "configs")
        for name in ("autograd", "options", "layers", "experiments"):
            (self.folder / name).symlink_to(checkout / name)
        (self.folder / "build").symlink_to(build.folder)
        for name, text in readers_files.items():
            (self.folder / name).write_text(text)
        write_digits(self.folder / "mnist")
        stand_in = pathlib.Path(__file__).with_name("stand_in.py")
        self.script("heed", [sys.executable, "-B", str(stand_in)])
        # The compiler of the build, with what it needs to link with the build's libraries.
        self.script("bin/g++", build.compiler())
        if shutil.which("sqlite3") is None:
            self.script("bin/sqlite3", [sys.executable, "-c", sqlite_shell])
        self.runs = {}    # the documents' example IDs, and those that stand for them
        self.made = {}    # by the command that made them

    def script(self, name, command):
        (self.folder / name).write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
        (self.folder / name).chmod(0o755)

    def environment(self):
        given = {"program": self.program, "short": short_run, "for": more_for, "runs": self.runs}
        return {**os.environ, "HEED_STAND_IN": json.dumps(given),
                "PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}"}

    def shell(self, text):
        """What the lines print; the first that fails ends them, and is an error."""
        return run(["bash", "-euo", "pipefail", "-c", text], cwd=self.folder, env=self.environment(),
                   stdin=subprocess.DEVNULL, timeout=None)  # the test has a limit as a whole

    def heed(self, *words):
        return run([self.program, *words], cwd=self.folder)

    def finished(self):
        """IDs, from the oldest to the newest."""
        if not (self.folder / "runs").exists():
            return []
        listed = json.loads(self.heed("runs", "--json", "--sort", "created"))["result"]["runs"]
        return [entry["id"] for entry in listed if entry["state"] == "finished"]

    def an_id(self, command):
        """Of one of the runs that `./heed run` makes with these words."""
        if command not in self.made:
            before = set(self.finished())
            self.shell(f"./heed run {command}")
            new = [run for run in self.finished() if run not in before]
            assert new, f"./heed run {command} made no run"
            self.made[command] = new[0]
        return self.made[command]
