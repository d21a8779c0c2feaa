#!/usr/bin/env python3
"""What `meson install` puts into a prefix works from there, and from wherever the prefix is moved to. Prints TAP.
Usage: install_test.py CHECKOUT BUILD      BUILD must hold a finished build"""

import json
import os
import pathlib
import re
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from tap import Points, attempt, run  # noqa: E402

checkout, build = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
points = Points()
meson = "/usr/bin/meson" if os.path.exists("/usr/bin/meson") else "meson"
plain = {name: value for name, value in os.environ.items() if not name.startswith("HEED_")}
short = ["train.steps=2", "task.validation=64", "sweep.seeds=[0]"]

with tempfile.TemporaryDirectory(prefix="heed-install-") as place:
    place = pathlib.Path(place)
    options = json.loads((build / "meson-info" / "intro-buildoptions.json").read_text())
    prefix = next(option["value"] for option in options if option["name"] == "prefix")
    there = place / "root" / prefix.lstrip("/")

    def heed(where, *words):
        return run([str(where / "bin" / "heed"), *words], cwd=place, env=plain)

    with points.point("meson install puts the program, its parts, configs, schema and documents there"):
        run([meson, "install", "-C", str(build), "--no-rebuild", "--destdir", str(place / "root")])
        for name in ("bin/heed", "lib/heed/libheed_float64.so", "share/heed/heed.schema.json",
                     "share/heed/configs/quickstart.toml", "share/heed/configs/base",
                     "share/bash-completion/completions/heed", "share/zsh/site-functions/_heed", "share/doc/heed/README.md",
                     "share/doc/heed/CITATION.cff",
                     "share/doc/heed/docs/reference/configs.md"):
            assert (there / name).exists(), f"{name} is missing"
        strangers = [file for file in there.rglob("*") if file.is_file() and file.relative_to(there).parts[0] == "bin"]
        assert [file.name for file in strangers] == ["heed"], strangers

    with points.point("every config that is installed is the checkout's"):
        for file in sorted((checkout / "configs").rglob("*.toml")):
            assert (there / "share/heed/configs" / file.relative_to(checkout / "configs")).read_bytes() == (
                file.read_bytes()), file

    with points.point("the schema is what the program says"):
        assert (there / "share/heed/heed.schema.json").read_text() == heed(there, "options", "--schema")

    with points.point("the shells' completions are what the program says, and bash's works from there"):
        for shell, name in (("bash", "bash-completion/completions/heed"), ("zsh", "zsh/site-functions/_heed")):
            assert (there / "share" / name).read_text() == heed(there, "completion", shell), name
        script = (f". {there}/share/bash-completion/completions/heed; COMP_LINE='heed pla' COMP_POINT=8; "
                  "_heed heed; echo \"${COMPREPLY[@]}\"")
        offered = run(["bash", "--norc", "-c", script], env={**plain, "PATH": f"{there}/bin:{os.environ['PATH']}"})
        assert offered == "plan\n", offered

    with points.point("a sweep runs from there, in both precisions"):
        config = str(there / "share/heed/configs/quickstart.toml")
        for precision in ("float32", "float64"):
            heed(there, "run", config, "--out", str(place / precision), f"precision={precision}", *short)
            manifests = [json.loads(file.read_text()) for file in (place / precision).glob("*/manifest.json")]
            assert manifests and all(manifest["outcome"] == "finished" for manifest in manifests)

    with points.point("the prefix may be moved"):
        moved = place / "elsewhere"
        shutil.move(there, moved)
        heed(moved, "run", str(moved / "share/heed/configs/quickstart.toml"), "--out", str(place / "moved"),
             "precision=float64", *short)

    with points.point("without its part for float64, it says what is missing and where"):
        (moved / "lib/heed/libheed_float64.so").unlink()
        done = attempt([str(moved / "bin/heed"), "run", str(moved / "share/heed/configs/quickstart.toml"), "--out",
                        str(place / "none"), "precision=float64", *short], env=plain, cwd=place)
        assert done.returncode == 2 and "libheed_float64.so is missing" in done.stderr and (
            "meson install" in done.stderr), done.stderr

    with points.point("-Dtests=false leaves the tests out, and what they need"):
        run([meson, "setup", "-Dtests=false", str(checkout), str(place / "without")])
        targets = json.loads((place / "without/meson-info/intro-targets.json").read_text())
        names = {target["name"] for target in targets}
        assert "heed" in names and not any(name.startswith("test_") for name in names), names

    with points.point("what is missing is named, all of it together"):
        done = attempt([meson, "setup", "-Dtests=false", "-Dd3=/nowhere", str(checkout), str(place / "missing")],
                       env={**plain, "PKG_CONFIG_LIBDIR": "/nowhere"})
        assert done.returncode != 0 and re.search(
            r"ERROR: .*missing: .*xxHash, utf8proc, .*D3 \(/nowhere\)\. (To install what is missing: |heed: )",
            done.stdout), done.stdout

    with points.point("a Python package without its Python is refused; a build with tests does without"):
        words = ["-Dpython=/nowhere/python", str(checkout)]
        done = attempt([meson, "setup", "-Dtests=false", *words, str(place / "package")], env=plain)
        assert done.returncode != 0 and '/nowhere/python -m pip install "nanobind>=2.4"' in done.stdout, done.stdout
        run([meson, "setup", *words, str(place / "tests")], env=plain)
        targets = json.loads((place / "tests/meson-info/intro-targets.json").read_text())
        names = {target["name"] for target in targets}
        assert "test_system" in names and "_heed" not in names, names
points.plan()
