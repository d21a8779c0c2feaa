#!/usr/bin/env python3
"""Completion: what the shells' scripts offer for lines that are being typed. Prints TAP.
Usage: completion_test.py HEED CHECKOUT"""

import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from tap import attempt, run, run_case, until  # noqa: E402

HEED, CHECKOUT = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
SCRIPTS = CHECKOUT / "experiments" / "command_line" / "completion"
BREAKS = " \t\n\"'><=;|&(:"  # bash's COMP_WORDBREAKS
RUNS = ["0123456789abcdef", "01ff456789abcdef", "f123456789abcdef"]
# Calls the function as bash does, and prints what it offers between two marks.
CALL = """set -u
source <("$HEED_PROGRAM" completion bash)
_heed "$COMMAND" "" ""
printf '<%s>' "${COMPREPLY[@]+"${COMPREPLY[@]}"}"
"""


def cut_as_bash(line: str) -> list[str]:
    """The words of a line as bash gives them to the function: cut at spaces, and around '=' and ':'."""
    words = [word for part in line.split(" ") if part for word in re.findall(r"[=:]+|[^=:]+", part)]
    return words if not line.endswith(" ") and not line.endswith("=") else [*words, ""]


class Completion(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.place = pathlib.Path(folder.name)
        (self.place / "bin").mkdir()
        (self.place / "bin" / "heed").symlink_to(HEED)

    def offered(self, line: str, breaks: str = BREAKS) -> list[str]:
        """What bash is offered at the end of this line."""
        words = cut_as_bash(line)
        array = " ".join("'" + word + "'" for word in words)
        script = (f"COMP_WORDBREAKS={shell_quoted(breaks)}\nCOMP_WORDS=({array})\nCOMP_CWORD={len(words) - 1}\n"
                  f"COMP_LINE='{line}'\nCOMP_POINT={len(line)}\n{CALL}")
        environment = {"PATH": f"{self.place / 'bin'}:{os.environ['PATH']}", "HEED_PROGRAM": str(HEED),
                       "COMMAND": words[0], "HOME": str(self.place)}
        done = attempt(["bash", "--norc", "-c", script], cwd=self.place, env=environment)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return [word for word in re.findall(r"<(.*?)>", done.stdout, re.S) if word]

    def make_runs(self, out: str = "runs") -> None:
        for name in RUNS:
            (self.place / out / name).mkdir(parents=True)
        (self.place / out / "sweeps" / "first-0123456789ab").mkdir(parents=True)

    # -- bash --

    def test_commands(self) -> None:
        every = self.offered("heed ")
        for command in ("new", "run", "plan", "show", "report", "completion"):
            self.assertIn(command, every)
        for hidden in ("worker", "slurm-task", "complete"):
            self.assertNotIn(hidden, every)
        self.assertEqual(self.offered("heed pl"), ["plan"])
        self.assertEqual(self.offered("heed --v"), ["--version"])

    def test_a_program_with_a_path(self) -> None:
        self.assertEqual(self.offered("bin/heed pl"), ["plan"])
        self.assertEqual(self.offered("~/bin/heed pl"), ["plan"])
        self.assertEqual(self.offered("elsewhere/heed pl"), [])

    def test_options_of_a_command(self) -> None:
        self.assertEqual(self.offered("heed run x.toml --jo"), ["--jobs"])
        self.assertIn("--sweep", self.offered("heed report --"))
        self.assertNotIn("--jobs", self.offered("heed run x.toml --jobs 2 --"))

    def test_values_of_options(self) -> None:
        self.assertEqual(self.offered("heed report --format h"), ["html"])
        self.assertEqual(self.offered("heed report --format=h"), ["html"])
        self.assertEqual(self.offered("heed report --format=h", breaks=" \t\n"), ["--format=html"])
        self.assertEqual(self.offered("heed run x.toml --jobs "), [])

    def test_names_of_config_options(self) -> None:
        self.assertIn("attention.score=", self.offered("heed run x.toml attention.s"))
        self.assertIn("attention.", self.offered("heed run x.toml "))
        self.assertEqual(self.offered("heed run x.toml seed=1 train.cli"), ["train.clip="])
        self.assertEqual(self.offered("heed check x.toml sweep.s"), ["sweep.seeds="])

    def test_parts_of_names_of_config_options(self) -> None:
        self.assertEqual(self.offered("heed run x.toml learning_r"), ["train.learning_rate="])
        self.assertEqual(self.offered("heed run x.toml max_voc"), ["data.max_vocabulary="])
        # Of several, none may replace what is typed.
        several = self.offered("heed run x.toml drop")
        self.assertEqual([word for word in several if "dropout" not in word], ["drop"])
        self.assertIn("attention.dropout=", several)
        self.assertEqual(self.offered("heed run x.toml dr"), [])
        self.assertEqual(self.offered("heed run x.toml nothing"), [])

    def test_fields_of_runs(self) -> None:
        self.assertEqual(self.offered("heed runs --sort cre"), ["created"])
        self.assertEqual(self.offered("heed runs --sort train.cli"), ["train.clip"])
        self.assertEqual(self.offered("heed runs --columns id,arm,val_acc"),
                         ["id,arm,val_accuracy", "id,arm,val_accuracy.best", "id,arm,val_accuracy.best_step"])
        self.assertIn("state", self.offered("heed runs --columns "))

    def test_values_of_config_options(self) -> None:
        listed = run([str(HEED), "variants", "attention.score"])
        scores = re.findall(r"^  (\w+)$", listed, re.M)
        self.assertIn("additive", scores)
        self.assertEqual(self.offered("heed run x.toml attention.score="), sorted(scores))
        self.assertEqual(self.offered("heed run x.toml attention.score=add"), ["additive"])
        self.assertEqual(self.offered("heed run x.toml attention.score=add", breaks=" \t\n"),
                         ["attention.score=additive"])
        self.assertEqual(self.offered("heed run x.toml model.tied_embeddings="), ["false", "true"])
        self.assertEqual(self.offered("heed run x.toml train.steps="), [])
        self.assertEqual(self.offered("heed run x.toml nothing="), [])

    def test_tables_families_and_kinds(self) -> None:
        self.assertIn("train.adamw", self.offered("heed options train"))
        self.assertIn("attention.score", self.offered("heed variants att"))
        self.assertEqual(self.offered("heed new rev"), ["reverse"])
        self.assertEqual(self.offered("heed completion z"), ["zsh"])

    def test_runs_and_sweeps(self) -> None:
        self.make_runs()
        self.make_runs("elsewhere")
        self.assertEqual(self.offered("heed generate "), RUNS)
        self.assertEqual(self.offered("heed show 01"), RUNS[:2])
        self.assertEqual(self.offered("heed diff 01ff456789abcdef f"), [RUNS[2]])
        self.assertEqual(self.offered("heed export 0123456789abcdef 01f"), [RUNS[1]])
        self.assertEqual(self.offered("heed evaluate --out elsewhere f"), [RUNS[2]])
        self.assertEqual(self.offered("heed evaluate --out nowhere f"), [])
        self.assertEqual(self.offered("heed report --sweep f"), ["first-0123456789ab"])
        self.assertEqual(self.offered("heed report elsewhere --sweep f"), ["first-0123456789ab"])

    def test_a_folder_of_a_stranger_does_no_harm(self) -> None:
        self.make_runs()
        for name in ("$(touch harm)", "a;touch harm", "b`touch harm`", "c\x1b]0;x\x07", "d e", "e\nnone", "-f", ".g"):
            (self.place / "runs" / name).mkdir()
            (self.place / "runs" / "sweeps" / name).mkdir()
        (self.place / "runs" / "sweeps" / "link").symlink_to("/")
        before = sorted(path.name for path in self.place.rglob("*"))
        self.assertEqual(self.offered("heed generate "), RUNS)
        self.assertEqual(self.offered("heed report --sweep "), ["first-0123456789ab", "link"])
        self.assertEqual(sorted(path.name for path in self.place.rglob("*")), before)
        shutil.rmtree(self.place / "runs")
        os.mkfifo(self.place / "runs")
        self.assertEqual(self.offered("heed generate "), [])
        self.assertEqual(self.offered("heed report --sweep "), [])

    def test_it_is_quick_and_silent(self) -> None:
        for words in ([], [""], ["nothing", ""], ["run", "--", ""], ["run", "x.toml", "a=b=c"], ["run", "\x1b", "\xff"],
                      ["report", "--format", "html", "--format", ""], ["show", "--out", "", ""]):
            done = attempt([str(HEED), "complete", "--", *words], cwd=self.place)
            self.assertEqual(done.stderr if words else "", "", words)
            self.assertEqual(done.returncode if words else 0, 0, words)
        times = []
        for _ in range(5):
            begin = time.monotonic()
            attempt([str(HEED), "complete", "--", "run", "x.toml", "train."])
            times.append(time.monotonic() - begin)
        self.assertLess(min(times), 0.5)

    def test_in_a_terminal_words_and_files_are_completed(self) -> None:
        """The same in an interactive bash, which also completes files and puts no space after '='."""
        (self.place / "my config.toml").touch()
        (self.place / "a=b=c.toml").touch()
        (self.place / "x=y").mkdir()
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(self.place)
            os.execvpe("bash", ["bash", "--norc", "--noprofile", "-i"],
                       {"PATH": f"{self.place / 'bin'}:{os.environ['PATH']}", "PS1": "", "TERM": "dumb", "HOME": "/",
                        "INPUTRC": "/dev/null", "HISTFILE": "/dev/null"})
        seen = b""

        def shown(text: bytes) -> bool:
            nonlocal seen
            while select.select([terminal], [], [], 0.05)[0]:
                seen += os.read(terminal, 4096)
            return text in seen

        def typed(text: str, awaited: str) -> None:
            os.write(terminal, text.encode())
            until(lambda: shown(awaited.encode()), f"{awaited!r} in the terminal")
        try:
            typed("source <(heed completion bash); echo rea''dy\n", "ready")
            typed("heed che\t", "heed check ")
            typed("my\t", "my\\ config.toml ")
            typed("attention.score=ad\t", "attention.score=additive ")
            typed("train.cli\t1.5 #", "train.clip=1.5 #")
            for line, completed in (
                # within quotes, and after them
                ("heed check 'my con\t", "heed check 'my config.toml' "),
                ("heed check 'my config.toml' 'attention.score=ad\t", "'attention.score=additive' "),
                ('heed check a.toml "attention.score=ad\t', '"attention.score=additive" '),
                ('heed check a.toml attention.score="ad\t', 'attention.score="additive" '),
                ("heed check a.toml 'data.path=my con\t", "'data.path=my config.toml' "),
                ("heed check 'a b.toml' train.cli\t#", "'a b.toml' train.clip=#"),
                ("heed check a\\ b.toml train.cli\t#", "b.toml train.clip=#"),
                # names with '='
                ("heed check a=b\t", "=c.toml "),
                ("heed check 'a=b\t", "heed check 'a=b=c.toml' "),
                ("heed check a.toml data.path=a=b\t", "=c.toml "),
                ("heed report --out=x=\t#", "--out=x=y/#"),
                ("heed check a.toml data.path=my\t", "data.path=my\\ config.toml "),
            ):
                with self.subTest(line):
                    seen = b""
                    typed("\x15" + line, completed)
        finally:
            os.kill(child, 9)
            os.waitpid(child, 0)
            os.close(terminal)

    # -- scripts --

    def test_the_program_prints_the_scripts_that_are_installed(self) -> None:
        for shell in ("bash", "zsh"):
            self.assertEqual(run([str(HEED), "completion", shell]), (SCRIPTS / f"heed.{shell}").read_text())
        self.assertEqual(attempt([str(HEED), "completion", "fish"]).returncode, 2)

    def test_the_scripts_are_valid(self) -> None:
        run(["bash", "-n", str(SCRIPTS / "heed.bash")])
        text = (SCRIPTS / "heed.zsh").read_text()
        self.assertTrue(text.startswith("#compdef heed\n"))
        if shutil.which("zsh"):
            run(["zsh", "-n", str(SCRIPTS / "heed.zsh")])

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh_offers_the_same(self) -> None:
        """compadd is replaced by a function that prints the words."""
        script = f"""
compdef() {{ }}
source <({HEED} completion zsh)
compadd() {{ local name=${{@[-1]}}; print -rl -- ${{(P)name}} }}
_files() {{ print FILES }}
words=({HEED} $@) CURRENT=$#words PREFIX=$words[-1]
compset() {{ print -r -- BEFORE $2 }}
_heed
"""
        def offered(*words: str) -> list[str]:
            return run(["zsh", "-f", "-c", script, "zsh", *words], cwd=self.place).split()
        self.assertEqual(offered("pl"), ["plan"])
        self.assertIn("attention.score=", offered("run", "x.toml", "attention.s"))
        self.assertIn("attention.score=additive", offered("run", "x.toml", "attention.score="))
        self.assertEqual(offered("check", "x"), ["FILES"])
        self.assertEqual(offered("check", "x", "data.path=a="), ["BEFORE", "data.path=", "FILES"])


def shell_quoted(text: str) -> str:
    return "$'" + "".join(f"\\x{ord(c):02x}" for c in text) + "'"


run_case(Completion)
