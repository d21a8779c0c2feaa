"""Makes the package `heed` in a build folder, of links to its parts, so that tests import what was built last.

Usage: link_package.py FOLDER PYTHON_FILES MODULE_FOLDER BUILD SUFFIX
"""

import pathlib
import sys


def main(folder, sources, modules, build, suffix):
    package = pathlib.Path(folder, "heed")
    parts = {file.relative_to(sources): file for file in pathlib.Path(sources).rglob("*")
             if file.suffix in (".py", ".pyi", ".typed")}
    parts[pathlib.Path(f"_heed{suffix}")] = pathlib.Path(modules, f"_heed{suffix}")
    parts[pathlib.Path("bin/heed")] = pathlib.Path(build, "heed")
    for old in package.rglob("*"):
        if old.is_symlink():
            old.unlink()
    for name, file in parts.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).symlink_to(file)


if __name__ == "__main__":
    main(*sys.argv[1:])
