"""The documents' own words, tried: their programs are built and run, their configs checked, their commands known.

Usage: guide_test.py CHECKOUT BUILD      prints TAP; BUILD must hold a finished build
"""

import os
import pathlib
import re
import shlex
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import documents  # noqa: E402
from build import Build  # noqa: E402
from tap import Points, run  # noqa: E402

checkout, build = pathlib.Path(sys.argv[1]).resolve(), Build(pathlib.Path(sys.argv[2]).resolve())
guide = checkout / "docs" / "guide.md"
every_document = [checkout / "README.md", *sorted((checkout / "docs").glob("*.md"))]
points = Points()


# ---- programs of the guide -------------------------------------------------------------------------------------------

def built_and_run(title, place):
    """Compiles a program of the guide by the guide's own command, and returns what it prints."""
    (place / title).write_text(documents.titled(guide, title).text)
    written = [line for block in documents.blocks(guide) for line in documents.commands(block, "g++")
               if re.search(rf"(^| ){title}( |$)", line)]
    assert len(written) == 1, f"the guide must have one g++ command for {title}, it has {len(written)}"
    command = written[0].removeprefix("g++").replace(" -I. ", f" -I{shlex.quote(str(checkout))} ")
    command = command.replace(" build/", f" {shlex.quote(str(build.folder))}/")
    compiler = shlex.join([*build.compiler(), *build.sanitizers()])
    run(["bash", "-c", compiler + command], cwd=place)
    return run([f"./{pathlib.Path(title).stem}"], cwd=place)


def xor_learns(place):
    block = documents.titled(guide, "xor.cpp")
    lines = block.text.splitlines()
    assert len(lines) <= 40, f"{block.place}: the program has {len(lines)} lines"
    foreign = [line for line in lines if line.startswith("#include \"") and not line.startswith("#include \"autograd/")]
    assert not foreign, f"{block.place}: more than the engine: {foreign}"
    printed = built_and_run("xor.cpp", place)
    answers = re.findall(r"^([01]) xor ([01]) = (\S+)$", printed, re.M)
    assert len(answers) == 4, f"it should answer for all four pairs, but printed\n{printed}"
    for a, b, answer in answers:
        assert abs(float(answer) - (int(a) ^ int(b))) < 0.05, f"{a} xor {b} came out as {answer}"


def attention_by_itself(place):
    printed = built_and_run("attend.cpp", place)
    stated = documents.following(guide, documents.titled(guide, "attend.cpp"))
    while not stated.text.startswith("y ["):
        stated = documents.following(guide, stated)
    assert printed.split() == stated.text.split(), f"{stated.place} states\n{stated.text}but it printed\n{printed}"


# ---- the guide's score -----------------------------------------------------------------------------------------------

def with_guide_score(place):
    """A copy of the sources with the guide's file and word; returns the names of the files that differ."""
    copy = place / "sources"
    for folder in ("autograd", "layers", "experiments"):
        shutil.copytree(checkout / folder, copy / folder)
    for name in ("meson.build", "meson_options.txt"):
        shutil.copy(checkout / name, copy)
    for folder in ("tests", "benchmarks"):
        (copy / folder).mkdir()
        (copy / folder / "meson.build").touch()

    file = "layers/attention/scores/gaussian.cpp"
    assert not (copy / file).exists(), "the guide's example exists already"
    (copy / file).write_text(documents.titled(guide, file).text)

    stated = documents.titled(guide, "layers/meson.build").text.strip()
    meson = copy / "layers" / "meson.build"
    before = stated.replace(", 'gaussian'", "")
    assert before != stated and before in meson.read_text().splitlines(), f"layers/meson.build has no line {before}"
    meson.write_text(meson.read_text().replace(before, stated))
    return copy


def build_guide_score(place):
    """What changes with one file and one word is compiled; everything else is taken from the finished build."""
    other = build.setup_like(with_guide_score(place), place / "other")
    objects = other.objects(r"layers/liblayers_f(32|64)\.a\.p/.*(gaussian|scores_table)\.cpp\.o$")
    assert len(objects) == 4, f"two sources in two precisions, but these are built: {objects}"
    other.ninja(*objects)
    return [other.folder / name for name in objects]


def known_everywhere(heed, place):
    listed = run([heed, "variants", "attention.score"])
    stated = [block for block in documents.blocks(guide) if block.text.lstrip().startswith("gaussian\n")]
    assert len(stated) == 1, "the guide should show what `heed variants` says of the score"
    assert stated[0].text.rstrip() in listed, f"{stated[0].place} differs from what is printed:\n{listed}"
    config = place / "gaussian.toml"
    config.write_text(documents.titled(guide, "gaussian.toml").text)
    run([heed, "check", config])
    out = run([heed, "run", config, "train.steps=3", "train.evaluate_every=@default", "sweep.seeds=[0]", "--out",
               place / "runs"])
    assert "gaussian" in out and "bandwidth" in out, out


def passes_layer_tests(tests, objects, place):
    """All tests of the layers pass with these objects, and check more than they do without."""
    fixtures = {**os.environ, "HEED_FIXTURES": str(checkout / "tests" / "fixtures")}
    checked = []
    for program in (build.link_with(f"tests/{tests}", objects, place / tests), build.folder / "tests" / tests):
        printed = run([program], env=fixtures)
        checked.append(int(re.search(r"^All tests passed \((\d+) assertions", printed, re.M)[1]))
    assert checked[0] > checked[1], f"{tests} checks as much without the score as with it: {checked}"


# ---- configs and commands --------------------------------------------------------------------------------------------

def write_digits(folder):
    """A few images in the files of MNIST: IDX, with sizes in the headers."""
    folder.mkdir()
    for part, count in {"train": 20, "t10k": 10}.items():
        sizes = b"".join(n.to_bytes(4, "big") for n in (0x803, count, 28, 28))
        (folder / f"{part}-images-idx3-ubyte").write_bytes(sizes + bytes(i * 7 % 256 for i in range(count * 28 * 28)))
        labels = bytes(i % 10 for i in range(count))
        (folder / f"{part}-labels-idx1-ubyte").write_bytes((0x801).to_bytes(4, "big") + count.to_bytes(4, "big") +
                                                           labels)


def data_for(text):
    """What `heed check` needs beside a config of this text, which leaves its data's path to the command line."""
    kinds = {"text": "input.txt", "images": "mnist"}
    return [f"data.path={path}" for kind, path in kinds.items() if f'kind = "{kind}"' in text]


def desk(place):
    """A folder in which the documents' commands make sense: the configs, theirs among them, and the text they name."""
    shutil.copytree(checkout / "configs", place / "configs")
    for document in every_document:
        for block in documents.blocks(document):
            if block.language == "toml" and block.title:
                (place / block.title).write_text(block.text)
    (place / "input.txt").write_text("First Citizen:\nBefore we proceed any further, hear me speak.\n" * 500)
    (place / "pairs.tsv").write_text("".join(f"the {i} cats\tles {i} chats\n" for i in range(200)))
    write_digits(place / "mnist")
    (place / "reviews.csv").write_text("stars,review\n" + "".join(f'{i % 5},"well, {i}"\n' for i in range(200)))
    return place


def check_config(heed, block, number, at):
    file = at / "configs" / f"of-the-documents-{number}.toml"
    file.write_text(block.text)
    run([heed, "check", file, *data_for(block.text)], cwd=at)


def known_command(heed, line, at):
    """Commands that only read are run as they stand; of the others, names, options and configs are looked at."""
    words = shlex.split(line.split(" > ")[0])[1:]
    if words[0] == "test":
        return
    configs = [word for word in words if word.endswith(".toml")]
    missing = [config for config in configs if not (at / config).exists()]
    assert not [config for config in missing if config.startswith("configs/")], f"there is no {missing}"
    if words[0].startswith("-") or words[0] in ("variants", "options", "show", "check", "data") and not missing:
        run([heed, *words], cwd=at)
        return
    helped = run([heed, words[0], "--help"])
    for word in words[1:]:
        if word.startswith("--"):
            assert re.search(rf"(^|\s|,){word.split('=')[0]}\b", helped, re.M), f"{words[0]} has no option {word}"
    overrides = [word for word in words if re.match(r"[a-z_]+(\.[a-z0-9_]+)*=", word)]
    for config in configs:
        if config not in missing:
            run([heed, "check", config, *overrides], cwd=at)


def main():
    with tempfile.TemporaryDirectory() as name:
        place = pathlib.Path(name)
        heed, objects = build.folder / "heed", []
        with points.point("the guide's XOR program uses the engine alone, and learns"):
            xor_learns(place)
        with points.point("the guide's attention layer by itself prints what the guide states"):
            attention_by_itself(place)
        with points.point("the guide's score needs one new file and one word"):
            objects = build_guide_score(place)
            heed = build.link_with("heed", objects, place / "heed")
        with points.point("the guide's score is known to `heed variants`, configs and sweeps"):
            known_everywhere(heed, place)
        for precision, tests in {"f64": "test_layers", "f32": "test_layers_f32"}.items():
            with points.point(f"the guide's score passes every test that layers have, in {precision}"):
                passes_layer_tests(tests, [path for path in objects if f"_{precision}." in str(path)], place)
        at = desk(place / "desk")
        for document in every_document:
            relative = document.relative_to(checkout)
            with points.point(f"{relative}: every config passes `heed check`"):
                for number, block in enumerate(documents.blocks(document)):
                    if block.language == "toml":
                        check_config(heed, block, f"{document.stem}-{number}", at)
            with points.point(f"{relative}: every command exists, with its options"):
                for block in documents.blocks(document):
                    for line in documents.commands(block, "./heed"):
                        known_command(heed, line, at)
            with points.point(f"{relative}: every link within the project leads somewhere"):
                for link in documents.links(document):
                    assert (document.parent / link).exists(), f"there is no {link}"
        with points.point("every config of the project passes `heed check`"):
            for config in sorted((at / "configs").rglob("*.toml")):
                if config.name.startswith("of-the-documents"):
                    continue
                run([heed, "check", config, *data_for(config.read_text())], cwd=at)
    points.plan()


main()
