#!/usr/bin/env python3
"""The Python package has all its files: a wheel contains what python/meson.build names, while the tests import the folder.
Usage: package_test.py CHECKOUT"""

import pathlib
import re
import sys
import tomllib
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from tap import run_case  # noqa: E402

CHECKOUT = pathlib.Path(sys.argv[1])


def named_files(meson: str, folder: str) -> list[str]:
    """The files of a folder that a meson.build names."""
    return sorted(re.findall(rf"'({folder}/[^']+\.\w+)'", meson))


def files_in(folder: pathlib.Path, *endings: str) -> list[str]:
    return sorted(str(file.relative_to(folder.parent)) for file in folder.rglob("*") if file.suffix in endings)


class Package(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.meson = (CHECKOUT / "python/meson.build").read_text(encoding="utf-8")
        self.project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))

    def test_every_module_is_installed(self):
        modules = files_in(CHECKOUT / "python/heed", ".py", ".pyi", ".typed")
        self.assertIn("heed/__init__.py", modules)
        self.assertEqual(named_files(self.meson, "heed"), modules)

    def test_every_binding_is_compiled(self):
        self.assertEqual(named_files(self.meson, "bindings"), files_in(CHECKOUT / "python/bindings", ".cpp"))

    def test_requirements_agree(self):
        tests = (CHECKOUT / "tests/python/requirements.txt").read_text(encoding="utf-8").splitlines()
        extras = self.project["project"]["optional-dependencies"]
        needed = [*self.project["build-system"]["requires"], *self.project["project"]["dependencies"],
                  *(word for name, words in extras.items() if name != "torch" for word in words)]
        self.assertEqual([word for word in needed if word not in tests], [])
        nanobind = next(word for word in needed if word.startswith("nanobind"))
        self.assertIn(f"version_compare('{nanobind.removeprefix('nanobind')}')", self.meson)

    def test_missing_files_are_seen(self):
        self.assertEqual(named_files("files('heed/a.py', 'heed/b/c.pyi', 'bindings/x.cpp') / 'heed'", "heed"),
                         ["heed/a.py", "heed/b/c.pyi"])


if __name__ == "__main__":
    run_case(Package)
