#!/usr/bin/env python3
"""ccache gives the objects that the compiler gives, in any folder. Usage: compiler_cache_test.py CHECKOUT BUILD

BUILD's own commands compile a source of the engine, with its precompiled header, in copies of the checkout and with a
cache of the test's own. Without ccache, there are no points."""

import atexit
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from tap import run_case  # noqa: E402

CHECKOUT, BUILD = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
OBJECT = "autograd/libautograd_f32.a.p/parameters.cpp.o"
SOURCE = "autograd/parameters.cpp"
HEADER = "autograd/pch/optimised.hpp"


def commands() -> list[str]:
    """What compiles OBJECT, in order: the precompiled header, what stands for it, the object."""
    all_of_them = subprocess.run(["ninja", "-C", BUILD, "-t", "commands", OBJECT], check=True, capture_output=True,
                                 text=True).stdout.splitlines()
    return [line for line in all_of_them if not line.startswith(("ninja:", "rm "))]


def launchers_settings() -> dict[str, str]:
    """How ./heed has ccache work."""
    lines = re.findall(r"^export (CCACHE_\w+)=\$\{\1:-(\S+)\}$", (CHECKOUT / "heed").read_text(), re.M)
    assert lines, "./heed sets nothing for ccache"
    return dict(lines)


class Caching(unittest.TestCase):
    @classmethod
    def compile_once(cls):
        """For all tests, in a folder that is gone when they begin."""
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="heed-ccache-"))
        atexit.register(shutil.rmtree, cls.folder)
        test = cls()
        cls.first, _, hits = test.compiled(test.copy("first"))
        test.assertEqual(0, hits)
        shutil.rmtree(cls.folder / "first")

    def copy(self, name: str, source=lambda text: text) -> pathlib.Path:
        """A checkout of the name with what the commands read, and a build folder. The precompiled header is without the
        library that takes longest, which this source doesn't use."""
        checkout = self.folder / name / "heed"
        for part in ("autograd", "options", "tests/ccache_clang"):
            whole = CHECKOUT / part
            (shutil.copytree if whole.is_dir() else shutil.copy2)(whole, self.made(checkout / part))
        (checkout / SOURCE).write_text(source((checkout / SOURCE).read_text()))
        (checkout / HEADER).write_text((checkout / HEADER).read_text().replace("#include <xsimd/xsimd.hpp>\n", ""))
        return checkout

    def made(self, path: pathlib.Path) -> pathlib.Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def compiled(self, checkout: pathlib.Path, cached=True, strict=True) -> tuple[bytes, str, int]:
        """The object, what the compiler said, and how many of its compilations came from the cache."""
        build, environment = checkout / "build", {
            "PATH": os.environ["PATH"], "CCACHE_DIR": str(self.folder / "cache"), "HOME": str(self.folder),
            "CCACHE_STATSLOG": str(checkout / "statistics"), **launchers_settings()}
        if not cached:
            environment["CCACHE_DISABLE"] = "1"
        said = ""
        for command in commands():
            words = shlex.split(command.replace(str(CHECKOUT), str(checkout)))
            words = [word for word in words if strict or word != "-Werror"]
            if "-o" in words:
                self.made(build / words[words.index("-o") + 1])
            done = subprocess.run(words, cwd=build, env=environment, capture_output=True, text=True)
            self.assertEqual(0, done.returncode, f"{command}\n{done.stderr}")
            said += done.stderr
        log = checkout / "statistics"
        hits = log.read_text().count("direct_cache_hit") if log.exists() else 0
        return (build / OBJECT).read_bytes(), said, hits

    def test_an_object_from_the_cache_is_the_compilers_in_every_folder(self):
        elsewhere, _, hits = self.compiled(self.copy("elsewhere/deeper"))
        self.assertLess(0, hits)
        without, _, hits = self.compiled(self.copy("without"), cached=False)
        self.assertEqual(0, hits)
        self.assertTrue(self.first == elsewhere == without)

    def test_a_warning_comes_from_the_cache_too(self):
        def unused(text):
            return text + "namespace { int nobody_calls_this() { return 1; } }\n"
        _, first, _ = self.compiled(self.copy("warned", unused), strict=False)
        _, second, hits = self.compiled(self.copy("warned_again", unused), strict=False)
        self.assertLess(0, hits)
        self.assertIn("nobody_calls_this", first)
        self.assertEqual(first.count("nobody_calls_this"), second.count("nobody_calls_this"))

    def test_a_changed_header_is_compiled_again(self):
        changed = self.copy("changed")
        header = changed / HEADER
        header.write_text(header.read_text() + "#define HEED_REAL_OF_THE_TEST 1\n")
        source = changed / SOURCE
        source.write_text(source.read_text() + "static_assert(HEED_REAL_OF_THE_TEST == 1);\n")
        self.compiled(changed)


def goes_through_ccache() -> bool:
    compilers = json.loads((BUILD / "compile_commands.json").read_text())
    words = shlex.split(compilers[0]["command"])
    return shutil.which("ccache") is not None and words[0].endswith(("ccache", "ccache_clang"))


if __name__ == "__main__":
    if goes_through_ccache():
        Caching.compile_once()
        run_case(Caching)
    else:
        print("1..0 # SKIP this build does not go through ccache")
