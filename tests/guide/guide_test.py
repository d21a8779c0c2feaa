"""README.md and the pages of docs/, tried: every block of code is run as it is written, in a folder like the checkout.

Usage: guide_test.py CHECKOUT BUILD      prints TAP; BUILD must hold a finished build

What is done with a block:

  toml, with a `name`      a whole config: saved in the checkout's folder, under its title if it has one, and checked
                           by `heed check`. `data.path` is added where the text leaves that to the command line
  toml, without a `name`   a part of a config: the line that docs/README.md gives for these goes above it
                           (configs of a page in `trained_pages` also train for some steps)
  sh                       run, after the blocks before it, with the stand-in for ./heed (stand_in.py) that makes runs
                           short and knows the example IDs; lines of `untested` are left out
  text after sh            what these lines print, to the letter, unless `outputs` says how it is compared
  other text               what `outputs` says
  python                   run
  cpp or csv, with a title saved for the commands that use it
  a score's file and word  built, by themselves and into the layers' tests

With HEED_VARIANTS set, only the generated pages are compared with the program, since developers set it who have edited a
variant. A block, or a line of one, that can't be run stands in `untested` with the reason; any other is an error.
"""

import functools
import json
import os
import pathlib
import re
import shlex
import shutil
import sys
import tempfile
import tomllib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import documents  # noqa: E402
import reference  # noqa: E402
import variant_pages  # noqa: E402
from build import Build  # noqa: E402
from desk import Desk, overrides_for  # noqa: E402
from tap import Points, attempt, run  # noqa: E402

checkout, build = pathlib.Path(sys.argv[1]).resolve(), Build(pathlib.Path(sys.argv[2]).resolve())
docs = checkout / "docs"
# In the reader's order: the tutorial's files and runs come first.
tried_documents = [checkout / "README.md", docs / "README.md", docs / "tutorial.md",
                   *(page for folder in ("reference", "how-to", "explanation")
                     for page in sorted((docs / folder).glob("*.md"))
                     if str(page.relative_to(checkout)) not in reference.PAGES)]
every_document = documents.markdown(checkout)
points = Points()


def variants_are_those_of_the_program(folder, heed):
    """The committed pages and pictures are those that the program gives, and there are no others."""
    made = variant_pages.pages_and_pictures(heed, checkout)
    there = {str(file.relative_to(folder)) for file in [*folder.glob("*.md"), *(folder / "images").iterdir()]}
    again = f"make them again: {variant_pages.REGENERATE}"
    assert there - {"README.md"} == set(made), f"{sorted((there - {'README.md'}) ^ set(made))}: {again}"
    for name, text in made.items():
        committed = (folder / name).read_text(encoding="utf-8")
        same = variant_pages.same_picture(committed, text) if name.endswith(".svg") else committed == text
        assert same, f"{name} is old; {again}"
    for name in made:
        if name.endswith(".md"):
            assert f"]({name})" in (folder / "README.md").read_text(encoding="utf-8"), f"README.md has no link to {name}"


def listed_variants_exist(page, heed, place):
    """Each `option = value` of the list is accepted, with what its variant needs."""
    lines = set(re.findall(r"`([a-z_.]+) = ([^`]+)`", page.read_text(encoding="utf-8")))
    assert len(lines) > 60, lines
    for key, value in sorted(lines):
        chosen = [f"{key}={value}"]
        family = re.match(r"(attention|position)\.(\w+)\.\w+$", key)
        if family:
            of = "kind" if family[1] == "position" else "score" if family[2] == "cosine" else "normalizer"
            chosen.insert(0, f"{family[1]}.{of}={family[2]}")
        if key.startswith("mixer.") and key != "mixer.kind":
            chosen.insert(0, "mixer.kind=recurrence")
        if key == "mixer.range":
            chosen.insert(0, "mixer.erase=head")
        if key == "attention.query_key_norm_over":
            chosen.insert(0, "attention.query_key_norm=rms")
        if key.startswith("recurrent."):
            chosen.insert(0, "model.kind=recurrent")
        run([heed, "check", str(checkout / "configs" / "base" / "copy.toml"), *chosen], cwd=place)


def name_of(document):
    """A page's path within the checkout."""
    return str(document.relative_to(checkout))


def block_called(title):
    """The one piece of code of all pages that has the title."""
    having = [block for document in tried_documents for block in documents.blocks(document) if block.title == title]
    assert len(having) == 1, f"the pages must have one piece of code called {title}, they have {len(having)}"
    return having[0]

# {document: {a command, or a block's first line: why it is not run}}
untested = {
    "README.md": {
        "./heed test": "this test is a part of it",
        "meson setup build && meson compile -C build && meson test -C build": "this test is a part of it",
        "meson test -C build --suite layers": "a suite of its own",
    },
    "docs/how-to/agents.md": {
        "{": "what a command says, shortened; tests/python/test_json.py compares it with its schema",
        "pip install '.[mcp]'": "needs PyPI; tests/python/test_mcp.py asks the server",
        '{"mcpServers": {"heed": {"command": "heed", "args": ["mcp"]}}}': "a setting of other programs",
    },
    "docs/how-to/cluster.md": {
        "./heed run configs/quickstart.toml --on slurm --out /shared/project": "needs a cluster; tests/cluster does it",
        "./heed run configs/quickstart.toml --on slurm --out /shared/project slurm.partition=short slurm.time=30":
            "needs a cluster; tests/cluster does it",
        "meson setup release -Dtests=false -Dcpu=portable --prefix=/shared/heed": "tests/install does it",
        "meson install -C release": "tests/install does it",
        "/shared/heed/bin/heed run /shared/heed/share/heed/configs/quickstart.toml": "tests/install does it",
        "mpirun -np 2 ./heed run configs/base/copy.toml": "needs MPI; tests/mpi does it",
        "heed: 3 of 54 runs are finished; 51 wait or run in Slurm, and continue without this command.":
            "needs a cluster; tests/cluster looks for these words",
        "/shared/project  54 runs": "needs a cluster; tests/cluster looks for these words",
        "FROM debian:12 AS build": "needs Docker and a network; the page says how its steps were tried",
        "docker build -t heed -f Containerfile .": "needs Docker",
        'docker run --rm -v "$PWD:/work" -w /work heed run configs/quickstart.toml --jobs 4': "needs Docker",
    },
    "docs/how-to/from-python.md": {"pip install .": "needs PyPI; the page's blocks of Python are tests/python's"},
    "docs/how-to/other-tools.md": {
        "pip install mlflow": "needs PyPI; tests/peers/run does it",
        "python experiments/exports/to_mlflow.py runs --heed ./heed --tracking-uri sqlite:///mlflow.db":
            "needs MLflow from PyPI; tests/peers/run does it",
    },
    "docs/how-to/write-it-up.md": {
        "We compared ARMS with a reference (REFERENCE) on TASK, with N seeds for each arm. The metric was METRIC on the":
            "a text for people",
        "We compared ARMS with a reference (REFERENCE) by METRIC, with N runs for each arm, trained by CODE. Runs with the same":
            "a text for people",
        "@software{heed,": "a text for people",
    },
}

# Pages whose Python needs the package: the suite `python` runs them (tests/python/test_docs.py).
of_the_package = ["docs/how-to/from-python.md", "docs/how-to/attention-in-pytorch.md"]

# {example ID, or command and example ID: the runs, of which it is one}; docs/README.md states the first four
example_runs = {
    "3f2a": "configs/base/copy.toml",
    "9c01": "configs/papers/scan-transformer.toml",
    "51be": "configs/papers/nanogpt-char.toml data.path=input.txt",
    "77d0": "reviews.toml",
    "RUN": "configs/quickstart.toml",
    "generate RUN": "configs/papers/nanogpt-char.toml data.path=input.txt",
}

# Words of the text that only look like an option.
not_options = {"attention.json", "report.html", "report.md", "report.tex", "report.csv", "report.json",
               # ends of parameters' names
               "position.weight", "position.keys", "position.values", "position.amount", "position.shape",
               "recurrent.weight"}

score_page = "docs/how-to/own-score.md"
# Whose configs are not only checked, but train for some steps.
trained_pages = {"docs/how-to/own-variant.md"}


# ---- programs -------------------------------------------------------------------------------------------

def xor_uses_the_engine_alone():
    block = block_called("xor.cpp")
    lines = block.text.splitlines()
    assert len(lines) <= 40, f"{block.place}: the program has {len(lines)} lines"
    foreign = [line for line in lines if line.startswith("#include \"") and not line.startswith("#include \"autograd/")]
    assert not foreign, f"{block.place}: more than the engine: {foreign}"


# ---- the pages' score, normaliser and position ----------------------------------------------------------------------

def example_variants():
    return [block for document in tried_documents for block in documents.blocks(document)
            if block.language == "cpp" and block.title.startswith("layers/")]


def with_example_variants(place):
    """Returns a copy of the sources with the pages' files and words."""
    copy = place / "sources"
    for folder in ("autograd", "options", "layers", "experiments"):
        shutil.copytree(checkout / folder, copy / folder)
    for name in ("meson.build", "meson_options.txt"):
        shutil.copy(checkout / name, copy)
    for name in ("configs", "docs", "README.md", "CHANGELOG.md", "CITATION.cff", "LICENSE"):
        (copy / name).symlink_to(checkout / name)
    for folder in ("tests", "benchmarks"):
        (copy / folder).mkdir()
        (copy / folder / "meson.build").touch()

    for block in example_variants():
        assert not (copy / block.title).exists(), f"the example {block.title} exists already"
        (copy / block.title).write_text(block.text)
    words = [block for document in tried_documents for block in documents.blocks(document)
             if block.title == "layers/meson.build"]
    assert len(words) == len(example_variants()), "each of the pages' variants has a word"
    meson = copy / "layers" / "meson.build"
    for block in words:
        stated = block.text.strip()
        before = re.sub(r", '\w+'\]$", "]", stated)
        assert before != stated and before in meson.read_text().splitlines(), f"layers/meson.build has no line {before}"
        meson.write_text(meson.read_text().replace(before, stated))
    return copy


def with_xor(copy):
    """Adds the line that the page gives to readers who want Meson to build its XOR program."""
    block = block_called("xor.cpp")
    lines = [word for word in documents.code_words(block.document) if word.startswith("executable('xor'")]
    assert len(lines) == 1, f"the page must have one line for the root's meson.build, it has {lines}"
    (copy / "xor.cpp").write_text(block.text)
    with open(copy / "meson.build", "a", encoding="utf-8") as meson:
        meson.write(f"\n{lines[0]}\n")
    return copy


def set_up_with_all(place):
    """A build of a copy of the sources with everything that the pages add."""
    return build.setup_like(with_metric(with_xor(with_example_variants(place))), place / "other")


def build_example_variants(other):
    """What changes with a file and a word is compiled; everything else is taken from the finished build."""
    assert other.objects(r"^xor$"), "Meson did not take the line for xor.cpp"
    names = "|".join(pathlib.Path(block.title).stem for block in example_variants())
    objects = other.objects(rf"layers/liblayers_f(32|64)\.a\.p/.*({names}|(scores|normalizers|positions)_table)\.cpp\.o$")
    assert len(objects) == 12, f"three variants and three tables in two precisions, but these are built: {objects}"
    other.compile_beside(build, objects)
    return [other.folder / name for name in objects]


# ---- a metric of one's own -------------------------------------------------------------------------------------------

# In each file, what stands before the addition, and the addition.
METRIC = {
    "experiments/metrics/catalogue.cpp": (
        "  if (of_any || has_perplexity(config))\n",
        """  out.push_back({"val_error_rate", Direction::lower, "", "fraction of the targets that are wrong", 0, 1});\n"""),
    "experiments/training/evaluation.cpp": (
        "  if (has_perplexity(config)) out.emplace_back(",
        """  out.emplace_back(name + "_error_rate", 1 - share(hits.right, hits.targets));\n"""),
}


def with_metric(copy):
    """Adds the metric to a copy of the sources."""
    for name, (after, addition) in METRIC.items():
        text = (copy / name).read_text()
        assert text.count(after) == 1, f"{name} has not one line that begins so: {after}"
        (copy / name).write_text(text.replace(after, addition + after))
    return copy


def object_of(other, source):
    """The object file of a source of experiments/, which may be compiled as one with others."""
    within = source.removeprefix("experiments/")
    for name in other.objects(r"experiments/libexperiments(_f32)?\.a\.p/.*\.cpp\.o$"):
        joined = re.search(r"(?<=/meson-generated_\.\._)\w+_joined_\d+\.cpp(?=\.o$)", name)
        if joined and f'{within}"' in (other.folder / "experiments" / joined[0]).read_text():
            return name
        if name.endswith(f"/{within.replace('/', '_')}.o"):
            return name
    raise AssertionError(f"no object has {source}")


def a_metric_is_added_in_two_files(place, other):
    """A program with it trains, compares arms by it and names its better side."""
    assert other, "the sources with it are not set up"
    objects = [object_of(other, source) for source in METRIC]
    other.compile_beside(build, objects)
    heed = build.link_with("heed", [other.folder / name for name in objects], place / "heed-with-metric")
    config = place / "metric.toml"
    config.write_text("""[model]
width = 16
layers = 1
heads = 2
[train]
steps = 3
[report]
metric = "val_error_rate"
also = ["steps_to(val_error_rate, 0.5)"]
[sweep]
[[sweep.block]]
grid = { "attention.score" = ["additive"] }
""")
    told = run([heed, "run", str(config), "--out", str(place / "metric-runs"), "train.evaluate_every=1"])
    assert re.search(r"val_error_rate: fraction of the targets that are wrong; .*lower is better", told), told
    rates = [line for line in told.splitlines() if re.match(r"  (reference \(score = scaled_dot\)|score = additive) +1 +[01]\.\d", line)]
    assert len(rates) == 2, told


def of_precision(objects, precision):
    return [path for path in objects if f"_{precision}." in str(path)]


def passes_layer_tests(tests, objects, place):
    """The tests of the layers pass with these objects, of pairs those with the pages' score or normaliser; and one test
    that goes over pairs finds some."""
    names = " ".join(pathlib.Path(block.title).stem for block in example_variants())
    environment = {**os.environ, "HEED_FIXTURES": str(checkout / "tests" / "fixtures"), "HEED_VARIANTS": names}
    with_variants, without = build.link_with(f"tests/{tests}", objects, place / tests), build.folder / "tests" / tests
    run([with_variants], env=environment, timeout=None)

    def checked(program):
        printed = run([program, "every attention equals the plain loops*"], env=environment)
        return sum(int(n) for n in re.findall(r"\((\d+) assertions", printed))
    assert checked(with_variants) > 1000, f"{tests} has checked no pair with {names}"
    assert checked(without) == 0, f"{tests} has checked other pairs than those with {names}"


# ---- texts that commands print ---------------------------------------------------------------------------------------

def exactly(stated, printed, _=None):
    assert printed is not None, "the commands before it failed"
    assert stated.strip() == printed.strip(), f"it states\n{stated}but it printed\n{printed}"


def roughly(stated, printed, _=None):
    """The same words, and numbers to 0.01: their last digits depend on the processor."""
    number = r"-?\d+\.\d+"
    exactly(re.sub(number, "#", stated), re.sub(number, "#", printed))
    for a, b in zip(re.findall(number, stated), re.findall(number, printed)):
        assert abs(float(a) - float(b)) <= 0.01, f"it states {a}, but it printed {b}"


def table_cells(text, column):
    """{arm: cell} of a column in a sweep's table."""
    lines = iter(text.splitlines())
    heading = next((re.split(r"\s{2,}", line.strip()) for line in lines if line.startswith("  arm ")), None)
    assert heading, f"no table is in\n{text}"
    at = heading.index(column)
    at -= len(heading) if at > 2 else 0    # of other columns' cells, some are empty in the reference's line
    cells = {}
    for line in lines:
        if not line.strip():
            return cells
        words = re.split(r"\s{2,}", line.strip())
        cells[words[0]] = words[at]
    return cells


def quickstart(stated, printed, _):
    """The arms, in order, their parameters and the question; results take longer than a test should."""
    assert printed is not None, "the commands before it failed"
    parameters = [list(table_cells(text, "parameters").items()) for text in (stated, printed)]
    assert parameters[0] == parameters[1], f"it printed\n{printed}"
    assert stated.splitlines()[1] == printed.splitlines()[1], f"it printed\n{printed}"
    runs = sum(int(n) for n in table_cells(stated, "n").values())
    assert f"{runs} of {runs} runs" in stated, f"the arms have {runs} runs in all"


def folders(stated, *_):
    missing = [name for name in re.findall(r"^(\S+)", stated, re.M) if not (checkout / name).exists()]
    assert not missing, f"there is no {missing}"


def refused(config):
    def check(stated, _, desk):
        place = pathlib.Path(tempfile.mkdtemp(dir=desk.folder))
        (place / "my.toml").write_text(config)
        exactly(stated, attempt([desk.program, "check", "my.toml"], cwd=place).stderr)
    return check


def refused_filter(stated, _, desk):
    printed = attempt([desk.program, "runs", "--where", "attention.scroe = 'additive'"], cwd=desk.folder).stderr
    assert printed.startswith(stated), f"it printed\n{printed}"


def lines_of(stated, printed, _):
    """Some of the lines."""
    missing = [line for line in stated.splitlines() if line not in (printed or "").splitlines()]
    assert not missing, f"it did not print\n{missing}\nbut\n{printed}"


def refused_comparison(stated, _, desk):
    words = ["compare", "results.csv", "--metric", "acuracy", "--reference", "baseline"]
    exactly(stated, attempt([desk.program, *words], cwd=desk.folder).stderr)


def classes(stated, printed, _):
    """As many lines of the same form; the classes and their probabilities depend on the training."""
    form = r"(?:[01]\.\d{6}\t[0-4]\n)+"
    assert re.fullmatch(form, stated) and re.fullmatch(form, printed), f"it printed\n{printed}"
    assert stated.count("\n") == printed.count("\n"), f"it printed\n{printed}"


def variant_of_the_score(stated, _, desk):
    printed = desk.heed("variants", "attention.score")
    assert stated in printed, f"it printed\n{printed}"


# {document: {a text's beginning: what compares it with what the block before it printed}}
outputs = {
    "README.md": {
        "quickstart  54 of 54 runs": quickstart,
        "autograd/ ": folders,
    },
    "docs/tutorial.md": {
        "reverse  30 of 30 runs": quickstart,
        "positions  32 of 32 runs": quickstart,
    },
    "docs/reference/configs.md": {
        "heed: my.toml:6:9: ": refused('name = "mine"\n\n\n\n[attention]\nscore = "aditive"\n\n\n'
                                       '[train]\nlearning_rat = 1\n'),
        "heed: my.toml:8:1: ": refused('name = "mine"\n\n[model]\nheads = 3\n[attention]\nscore = "additive"\n'
                                       '[attention.cosine]\ntemperature = 5.0\n'),
    },
    "docs/how-to/own-variant.md": {
        "heed: my.toml:4:1: ": refused('name = "mine"\n\n[attention]\nscore_mod = "30 * tan(s / 30)"\n'),
    },
    "docs/how-to/compare-and-repeat-runs.md": {"heed: --where: ": refused_filter},
    "docs/how-to/results-from-anywhere.md": {"  arm       n         accuracy": lines_of, "heed: ": refused_comparison},
    "docs/how-to/own-score.md": {"  student\n": variant_of_the_score},
    "docs/how-to/as-a-library.md": {"step 100 ": roughly},
    "docs/how-to/generate.md": {"0.931234": classes},
}


# ---- blocks ----------------------------------------------------------------------------------------------------------

def line_above_a_part():
    """What docs/README.md says makes a whole config of a part."""
    lines = [word for word in documents.code_words(docs / "README.md") if word.startswith("extends = ")]
    assert len(lines) == 1, f"docs/README.md must have one such line, it has {lines}"
    return lines[0]


def slurm_settings(block, desk):
    """They are read before Slurm is looked for, which isn't there."""
    (desk.folder / block.title).write_text(block.text)
    words = [desk.program, "run", "configs/quickstart.toml", "--on", "slurm", "--slurm", block.title]
    done = attempt(words, cwd=desk.folder, env={**os.environ, "PATH": "/nowhere"})
    assert done.returncode == 2 and "Slurm is not installed" in done.stderr, done.stderr


def config(block, desk, number):
    if block.title == "slurm.toml":
        return slurm_settings(block, desk)
    whole = "name" in tomllib.loads(block.text)
    file = desk.folder / (block.title or f"block-{number}.toml")
    file.write_text(block.text if whole else f"{line_above_a_part()}\n\n{block.text}")
    desk.heed("check", file.name, *overrides_for(block.text))
    if name_of(block.document) in trained_pages:
        desk.shell(f"./heed run {file.name}")


def shell(block, desk):
    tried = [line for line in documents.commands(block) if line not in untested.get(name_of(block.document), {})]
    return desk.shell("\n".join(tried)) if len(tried) < len(documents.commands(block)) else desk.shell(block.text)


def comparison(block):
    for beginning, compare in outputs.get(name_of(block.document), {}).items():
        if block.text.startswith(beginning):
            return compare
    return None


def try_block(block, before, printed, desk, number):
    """Returns what a block of commands printed."""
    if block.language == "toml":
        config(block, desk, number)
    elif block.language == "sh":
        return shell(block, desk)
    elif block.language == "python" and name_of(block.document) in of_the_package:
        return None
    elif block.language == "python":
        return run([sys.executable, "-c", block.text], cwd=desk.folder, env=desk.environment())
    elif block.language == "text":
        compare = comparison(block)
        if compare is None:
            assert before is not None and before.language in ("sh", "python") and before.section == block.section, (
                "this text follows no command, and `outputs` in tests/guide/guide_test.py does not say what it is")
            compare = exactly
        compare(block.text, printed, desk)
    else:
        raise AssertionError(f"nothing tries this block, of the language '{block.language}'; it needs a rule, or a "
                             "reason in `untested` of tests/guide/guide_test.py")
    return None


def first_line(block):
    return block.text.split("\n")[0]


def write_files(*desks):
    titles = [block.title for document in tried_documents for block in documents.blocks(document)
              if block.title and not block.title.startswith("layers/")]
    assert len(set(titles)) == len(titles), f"two pieces of code have one name: {sorted(titles)}"
    for title in titles:
        for place in desks:
            (place.folder / title).write_text(block_called(title).text)


def try_document(document, desk, desk_with_score):
    """A point for each block."""
    every = documents.blocks(document)
    before, printed = None, None
    for number, block in enumerate(every):
        if block.title.startswith("layers/"):
            continue  # build_example_variants
        if block.language != "sh" and first_line(block) in untested.get(name_of(document), {}):
            continue
        if block.language in ("cpp", "csv") and block.title:
            with points.point(f"{block.place}: a command uses {block.title}"):
                uses = [line for other in every if other.language == "sh" for line in documents.commands(other)
                        if block.title in line.split()]
                assert uses and (len(uses) == 1 or block.language == "csv"), f"{len(uses)} commands do"
            continue
        where = desk_with_score if name_of(document) == score_page else desk
        with points.point(f"{block.place}: {what_holds.get(block.language, 'it is tried')}"):
            result = None
            result = try_block(block, before, printed, where, number)
        if block.language != "text":
            before, printed = block, result


what_holds = {"toml": "a config that passes `heed check`", "sh": "every command works", "text": "what is printed",
              "python": "it runs"}


def names_are_seen(document):
    """Readers don't see a block's title, so its section must say it."""
    text = documents.prose(document)
    for block in documents.blocks(document):
        seen = text[block.section] + "".join(other.text for other in documents.blocks(document)
                                             if other.section == block.section and other.language == "sh")
        assert not block.title or re.search(rf"(?<![\w/.-]){re.escape(block.title)}(?![\w/-])", seen), (
            f"{block.place}: its section does not say that it is {block.title}")


def untested_is_there(document):
    """What is left out must stand in the document, or the reason is of something else."""
    every = [line for block in documents.blocks(document)
             for line in (documents.commands(block) if block.language == "sh" else [first_line(block)])]
    gone = [line for line in untested.get(name_of(document), {}) if line not in every]
    assert not gone, f"{document.name} has no such lines: {gone}"
    texts = [block.text for block in documents.blocks(document)]
    gone = [text for text in outputs.get(name_of(document), {}) if not any(block.startswith(text) for block in texts)]
    assert not gone, f"{document.name} has no text that begins so: {gone}"


# ---- what the text says ----------------------------------------------------------------------------------------------

@functools.cache
def help_of(heed, command):
    return run([heed, command, "--help"])


def known_command(heed, line):
    """A command within the text: its name and its options."""
    words = shlex.split(line.replace("...", ""))[1:]
    elsewhere = ("test", "style", "tidy", "bench", "packages", "mcp")  # in the launcher and the Python package
    if not words or words[0].isupper() or words[0] in elsewhere or words[0].startswith("-"):
        return
    helped = help_of(heed, words[0])
    for word in words[1:]:
        if word.startswith("--"):
            assert re.search(rf"(^|\s|,){re.escape(word.split('=')[0])}\b", helped, re.M), f"no option {word}: {line}"


@functools.cache
def option_names(heed):
    """Full names of options, of tables, and of tables of these."""
    tables = json.loads(run([heed, "options", "--json"]))["result"]["tables"]
    return {name for table in tables for name in (table["table"], table["table"].rpartition(".")[0],
                                                  *(option["key"] for option in table["options"]))}


def known_option(heed, word):
    """An option within the text, `table.option` with or without a value."""
    named = re.fullmatch(r"([a-z_]+(?:\.[a-z0-9_]+)+)(?:\s*=.*)?", word)
    tables = {name.split(".")[0] for name in option_names(heed)} - {""}
    if named and named[1].split(".")[0] in tables and named[1] not in not_options:
        assert named[1] in option_names(heed), f"there is no option {named[1]}"


def pages_work(place, heed):
    """Everything that pages show is tried."""
    with points.point("the XOR program uses the engine alone"):
        xor_uses_the_engine_alone()
    with_score, objects, other = heed, [], None
    with points.point("the pages' variants need one new file and one word each, and Meson takes the line for XOR"):
        other = set_up_with_all(place)
        objects = build_example_variants(other)
        with_score = build.link_with("heed", of_precision(objects, "f32"), place / "heed")
    for precision, tests in {"f64": "test_layers", "f32": "test_layers_f32"}.items():
        with points.point(f"the pages' variants pass every test that layers have, in {precision}"):
            passes_layer_tests(tests, of_precision(objects, precision), place)
    with points.point("a metric is added in two files"):
        a_metric_is_added_in_two_files(place, other)
    desk = Desk(place / "desk", checkout, build, heed)
    desk_with_score = Desk(place / "with-score", checkout, build, with_score)
    with points.point("each file of the pages has a name of its own, and the runs of the example IDs are made"):
        write_files(desk, desk_with_score)
        desk.runs = {example: desk.an_id(command) for example, command in example_runs.items()}
    with points.point("docs/README.md states the runs of the example IDs"):
        stated = (docs / "README.md").read_text(encoding="utf-8")
        for example, command in example_runs.items():
            assert "RUN" in example or f"| `{example}` | `./heed run {command}`" in stated, example
    for document in tried_documents:
        try_document(document, desk, desk_with_score)
        with points.point(f"{name_of(document)}: sections say the names of their files"):
            names_are_seen(document)
        with points.point(f"{name_of(document)}: what is left out is there"):
            untested_is_there(document)
    return desk


def generated_pages_hold(place, heed):
    """They are what the program says, and commands and options that any page names exist."""
    for name, page in reference.PAGES.items():
        with points.point(f"{name} is what the program says"):
            assert (checkout / name).read_text(encoding="utf-8") == page(str(heed)), (
                f"it is old; make it again: {reference.REGENERATE}")
    texts = reference.schemas(str(heed))
    with points.point("docs/reference/json has the schema of each command, and no other"):
        there = {str(file.relative_to(checkout)): file.read_text(encoding="utf-8")
                 for file in (checkout / "docs/reference/json").iterdir()}
        assert there == texts, f"it is old; make it again: {reference.REGENERATE}"
    folder = checkout / variant_pages.FOLDER
    with points.point(f"{variant_pages.FOLDER} is what the program says and draws"):
        variants_are_those_of_the_program(folder, str(heed))
    with points.point(f"{variant_pages.FOLDER}/README.md: every line of a config is one"):
        listed_variants_exist(folder / "README.md", str(heed), place)
    for document in every_document:
        relative = document.relative_to(checkout)
        with points.point(f"{relative}: every command in the text exists, with its options"):
            for line in documents.code_words(document):
                if line.startswith("./heed "):
                    known_command(heed, line)
        with points.point(f"{relative}: every option in the text exists"):
            for word in documents.code_words(document):
                known_option(heed, word)


def main():
    with tempfile.TemporaryDirectory() as name:
        place, heed = pathlib.Path(name), build.folder / "heed"
        generated_pages_hold(place, heed)
        if "HEED_VARIANTS" not in os.environ:
            desk = pages_work(place, heed)
            with points.point("every config of the project passes `heed check`"):
                for file in sorted((desk.folder / "configs").rglob("*.toml")):
                    desk.heed("check", str(file.relative_to(desk.folder)), *overrides_for(file.read_text()))
    points.plan()


main()
