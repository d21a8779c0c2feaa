"""The report of a small real sweep, in headless Chromium: it draws all that there is, complains of nothing, and asks
for nothing. Prints TAP; skipped where there is no Chromium. Usage: browser_test.py CHECKOUT HEED"""

import decimal
import json
import pathlib
import re
import subprocess
import sys
import tempfile

CHECKOUT, HEED = pathlib.Path(sys.argv[1]).resolve(), str(pathlib.Path(sys.argv[2]).resolve())
sys.path.insert(0, str(CHECKOUT / "tests"))

import chromium  # noqa: E402
from tap import Points, attempt, run  # noqa: E402

SIGNED_ZERO = re.compile(r"[-+\u2212]0(?:\.0+)?(?![.\de])")
NAME = "</script><b>50 % & a \"name\""
MODEL = """[model]
layers = 1
width = 16
heads = 2
"""

SHORT_COPIES = """[task]
kind = "copy"
validation = 64
[task.copy]
length = 5
symbols = 6
"""

CONFIG = """name = '''</script><b>50 % & a "name"'''
[task]
kind = "reverse"
validation = 32
[task.reverse]
length = 5
symbols = 6
""" + MODEL + """[train]
steps = 20
batch = 8
evaluate_every = 5
[report]
metric = "val_accuracy"
attend = ["3 1 4 1 5 | 5 1", "3 cats"]
[sweep]
seeds = [0, 1, 2]
[[sweep.block]]
grid = { "attention.score" = ["additive", "cosine"] }
[[sweep.block]]
kind = "leave_one_out"
off.residual = { "block.residual" = "none" }
[[sweep.block]]
arms = [
  { attention.score = "dot" }, { attention.score = "concat" }, { attention.score = "multiplicative" },
  { block.norm = "post" },
]
"""
ARMS, SEEDS = 8, 3  # more arms beside the reference than there are colours

LENGTHS = [6, 12, 24, 48]
GROUPED = f"""name = "groups"
[task]
kind = "copy"
validation = 64
[task.copy]
length = {LENGTHS[0]}
min_length = 3
symbols = 6
""" + MODEL + f"""[attention]
score = "dot"
[train]
steps = 4
batch = 8
evaluate_every = 2
evaluate_by_length = true
[report]
metric = "val_accuracy"
[sweep]
seeds = [0, 1, 2]
within = "task.copy.length"
[[sweep.block]]
grid = {{ "attention.score" = ["dot", "additive"], "task.copy.length" = {LENGTHS} }}
"""


SCORES, HEADS = ["dot", "additive", "cosine"], [1, 2, 4]
CROSSED = """name = "crossed"
""" + SHORT_COPIES + MODEL + f"""[attention]
score = "dot"
[train]
steps = 4
batch = 8
evaluate_every = 4
[report]
metric = "val_loss"
also = ["val_accuracy"]
[sweep]
seeds = [0, 1, 2, 3, 4, 5]
[[sweep.block]]
grid = {{ "attention.score" = {json.dumps(SCORES)}, "model.heads" = {HEADS} }}
exclude = [{{ "attention.score" = "cosine", "model.heads" = 4 }}]
[[sweep.block]]
arms = [{{ train.evaluate_every = 2 }}]
"""


def attention(tokens, sharp, sign=1):
    """An attention.json as another program may leave it: two heads that look at the token before, `sharp`ly or not, the
    second one with this sign."""
    heads = []
    for head in range(2):
        weights = [[sharp * sign**head if key == max(0, query - head) else (1 - sharp) / (len(tokens) - 1)
                    for key in range(len(tokens))] for query in range(len(tokens))]
        heads.append({"module": "blocks.0.attention", "head": head, "entropy": 0.7, "distance": None,
                      "queries": tokens, "keys": tokens, "weights": weights})
    return json.dumps({"examples": [{"input": "".join(tokens), "heads": heads}]})


def make_sweep(folder):
    """Runs the sweep; gives two arms attention weights, and damages a run. Returns its report's data."""
    (folder / "sweep.toml").write_text(CONFIG, encoding="utf-8")
    out = str(folder / "runs")
    run([HEED, "run", str(folder / "sweep.toml"), "--out", out])

    def report():
        file = run([HEED, "report", out, "--format", "json"]).strip()
        return json.loads(pathlib.Path(file).read_text(encoding="utf-8"))

    arms = report()["arms"]
    for arm, sharp, sign in ((0, 0.9, 1), (1, 0.4, -1)):
        pathlib.Path(arms[arm]["runs"][0]["folder"], "attention.json").write_text(
            attention(["<", "a", " ", "&"], sharp, sign), encoding="utf-8")
    pathlib.Path(arms[3]["runs"][2]["folder"], "metrics.jsonl").write_text("{not json\n", encoding="utf-8")
    return report(), pathlib.Path(run([HEED, "report", out]).strip())


def with_probe(page, probe="probe.js"):
    """A copy of the page that uses itself and writes down what it sees."""
    copy = page.with_name("probed.html")
    program = "".join((CHECKOUT / "tests" / "browser" / file).read_text(encoding="utf-8")
                      for file in ("probe_tools.js", probe))
    before, after = page.read_text(encoding="utf-8").rsplit("</body>", 1)
    copy.write_text(f"{before}<script>{{{program}}}</script></body>{after}", encoding="utf-8")
    return copy


def probed_report(folder, name, config, probe, fails=False):
    """Runs a config in a folder, and adds a probe to the page of its report. `fails` if some of the runs fail."""
    (folder / f"{name}.toml").write_text(config, encoding="utf-8")
    out = str(folder / name)
    status = attempt([HEED, "run", str(folder / f"{name}.toml"), "--out", out]).returncode
    assert status == (1 if fails else 0), status
    return with_probe(pathlib.Path(run([HEED, "report", out]).strip()), probe)


def asking_copy(page):
    """A copy of the page that asks a server for an image, and may."""
    copy = page.with_name("asking.html")
    text = page.read_text(encoding="utf-8").replace("default-src 'none'", "default-src *")
    text = text.replace("img-src", "font-src")
    copy.write_text(text.replace("</header>", '</header><img src="http://outside.invalid/x.png" alt="">'),
                    encoding="utf-8")
    return copy


def outside(requests):
    return [url for url in requests if url.split(":")[0] in ("http", "https", "ws", "wss", "ftp")]


def check_order(seen):
    """Nothing is wider than the page, nothing scrolls in a box within it, and each button has a name."""
    assert seen["overflow"] <= 0 and seen["unnamed"] == 0, [seen[key] for key in ("overflow", "unnamed", "wide", "layouts")]
    assert not seen["boxes"] and not seen["wide"], (seen["boxes"], seen["wide"])


def check_drawn(seen, data):
    arms = data["arms"]
    compared = [arm for arm in arms if arm["comparison"]]
    assert seen["sections"] == ["answers", "table", "differences", "single", "curves", "cost", "talk", "all-answers",
                                "attention", "problems", "configurations", "runs", "provenance"], seen["sections"]
    values = [run["value"] for arm in arms for run in arm["runs"]]
    lost = values.count(None)
    assert seen["single"][:3] == [len(arms), len(values) - lost, lost] and lost == 1, seen["single"]
    for run in arms[0]["runs"]:
        assert f"seed {run['seed']}{shown(run['value'], data['digits']['value'])}" in seen["single"][3], seen["single"]
    # What failed is said first, then where the numbers come from, then what is at chance.
    assert seen["limits"][1:] == data["warnings"] + data["limits"], (seen["limits"], data["warnings"], data["limits"])
    assert any(text.startswith("Left out: 1 run ") for text in data["warnings"]), data["warnings"]
    drawn = {"answers": 3, "allAnswers": len(arms) - 1, "rows": len(arms), "forest": len(compared), "pictures": 1, "curves": len(arms),
             "bands": 0, "points": len(arms), "configurations": len(arms), "maps": 4, "problems": 1}
    for what, number in drawn.items():
        assert seen[what] == number, f"{what}: {seen[what]}, expected {number}"


def check_words(points, seen, data, where):
    """The table says in words what its marks say, and what its columns are."""
    def word(arm):
        return arm["comparison"]["answer"] if arm["comparison"] else ""

    with points.point(f"the table has each arm's answer as a word ({where})"):
        assert seen["answerWords"] == [word(arm) for arm in data["arms"]], seen["answerWords"]
    with points.point(f"every column beyond the common ones is explained, at its head and beneath ({where})"):
        for column in ("d", "P(better)", "FLOPs a step"):
            notes = [note for note in seen["notes"] if note.startswith(f"{column}: ")]
            assert len(notes) == 1 and notes[0] in dict(seen["titles"])[column], (column, seen["notes"])
    with points.point(f"notes of second rank open with their count, and those of columns stand free ({where})"):
        folded, summary, free = seen["foldedNotes"]
        assert folded > 2 and summary == [f"{folded} more notes"], seen["foldedNotes"]
        assert {"difference", "p", "answer"} <= set(free) and "time" not in free, free
    with points.point(f"no number that rounds to zero has a sign ({where})"):
        assert not SIGNED_ZERO.findall(seen["signs"]), SIGNED_ZERO.findall(seen["signs"])
        assert "0.00" in seen["signs"], seen["signs"]


def clearness(comparison):
    low, high = comparison["interval"] or comparison["interval_student"]
    return abs(comparison["difference"]) / ((high - low) / 2) if comparison["difference"] else 0


def check_answers(points, seen, data, where):
    """The page opens with what matters most."""
    ranks = {"better": 0, "worse": 0, "same": 1, "equal": 1}
    told = [arm for arm in data["arms"] if arm["comparison"]]
    told.sort(key=lambda arm: (ranks.get(arm["comparison"]["answer"], 2), -clearness(arm["comparison"])))
    with points.point(f"the page opens with three answers, the clearest first, and a link to all ({where})"):
        assert seen["firstAnswers"] == [arm["sentence"] for arm in told[:3]], seen["firstAnswers"]
        assert seen["link"] == [["#all-answers", f"All {len(data['arms']) - 1} answers"]], seen["link"]


def check_lines(points, seen, data, where):
    with points.point(f"an arm's colour is the same in every figure ({where})"):
        for arm, colour in zip(data["arms"], seen["curveColours"]):
            label = next(name for name in seen["costColours"] if name.startswith(f"{arm['label']}: "))
            assert seen["costColours"][label] == colour, (label, colour)
    with points.point(f"symbols tell a reference and six arms apart without colour ({where})"):
        assert len(set(seen["symbols"][:7])) == 7, seen["symbols"]
    with points.point(f"lines lie above all bands, which are fainter where there are many ({where})"):
        assert seen["bandsBeneath"]
        some, few = seen["someBands"], seen["fewBands"]
        assert (len(some), len(few)) == (6, 2), (some, few)
        assert 0 < some[0] < 0.1 and set(some + few) == {some[0]}, (some, few)
    with points.point(f"of many arms, only the one that the legend picks has a band ({where})"):
        assert seen["pickedBands"] == [seen["curveColours"][1]], seen["pickedBands"]
        assert seen["dimmed"] == len(seen["curveColours"]) - 1, seen["dimmed"]
    with points.point(f"bands are the range or a deviation, axes linear or logarithmic ({where})"):
        assert seen["bandKinds"] == [[True, False], [False, True]], seen["bandKinds"]
        assert seen["scales"] == [False, True], seen["scales"]
    with points.point(f"the cursor has a dot on each line, and a row says its answer ({where})"):
        lines, dots = seen["cursor"]
        assert lines == 1 and sorted(dots) == sorted(seen["curveColours"]), seen["cursor"]
        assert seen["rowsSaid"] == [arm["sentence"] for arm in data["arms"] if arm["comparison"]], seen["rowsSaid"]


def check_talk(points, seen, data, where):
    talk, compared = seen["talk"], [arm for arm in data["arms"] if arm["comparison"]]
    with points.point(f"the figure for a talk has each answer in large letters, and no controls ({where})"):
        assert (talk["rows"], talk["controls"], talk["cut"]) == (len(compared), 0, 0), talk
        assert talk["letters"] >= 25, talk["letters"]
        assert {texts[0] for texts in talk["texts"]} == {arm["label"] for arm in compared}, talk["texts"]
        assert all("\u2026" not in text for texts in talk["texts"] for text in texts), talk["texts"]
        assert all(texts[3] in ("better", "worse", "same", "undecided", "underpowered", "equal")
                   for texts in talk["texts"]), talk["texts"]
        assert all(texts[4:] in ([], ["at chance"], ["worse than chance"]) for texts in talk["texts"]), talk["texts"]
    with points.point(f"it can be saved as an SVG and as a PNG ({where})"):
        assert talk["saved"]["marks"] == 2 * len(compared) and not talk["saved"]["variables"], talk["saved"]
        assert seen["downloads"] == [[".svg", "image/svg+xml"], [".png", "image/png,3200,1800,true"]], seen["downloads"]


def table_of(markdown):
    """The cells of a Markdown table, and which columns are aligned to the right."""
    lines = [re.split(r" (?<!\\)\| ", line[2:-2]) for line in markdown.splitlines()]
    return [lines[0], *lines[2:]], [cell == "---:" for cell in lines[1]]


def check_copies(points, seen, data, where):
    copied = seen["copied"]
    with points.point(f"a table is copied as tab-separated values, with numbers in full ({where})"):
        head, *rows = [line.split("\t") for line in copied["tsv"].splitlines()]
        assert head[:7] == ["arm", "n", "mean", "standard_deviation", "difference", "difference_low", "difference_high"], head
        assert all(len(row) == len(head) for row in rows) and len(rows) == len(data["arms"]), rows
        for arm, row in zip(data["arms"], rows):
            assert row[0] == arm["label"] and float(row[2]) == arm["mean"], row
            if arm["comparison"]:
                ends = [float(cell) for cell in row[5:7] if cell]  # none of fewer than six seeds
                assert ends == (arm["comparison"]["interval"] or []), row
            else:
                assert row[4:7] == ["", "", ""], row
    with points.point(f"and as Markdown, as it is shown ({where})"):
        (head, *rows), right = table_of(copied["markdown"])
        assert head[:4] == ["arm", "n", data["metric"]["name"], "difference \\[95 %\\]"], head
        assert right[:4] == [False, True, True, True] and len(rows) == len(data["arms"]), (right, rows)
        assert all(len(row) == len(head) for row in rows) and "\u00b1" in rows[0][2], rows
        assert copied["said"] == "copied", copied["said"]
    with points.point(f"where there is no clipboard, it goes by the selection, or is shown to be copied ({where})"):
        assert copied["selected"] == copied["shown"] == copied["tsv"], copied
        assert copied["dialogs"] == 0, copied["dialogs"]


def shown(value, digits):
    """A number as the page has it, which rounds halves up."""
    unit = decimal.Decimal(1).scaleb(-digits)
    text = str(decimal.Decimal(abs(value)).quantize(unit, decimal.ROUND_HALF_UP))
    return ("\u2212" if value < 0 and decimal.Decimal(text) else "") + text


def shown_signed(value, digits):
    text = shown(value, digits)
    return text if text[0] == "\u2212" or not decimal.Decimal(text) else "+" + text


def in_group(data, length):
    """The reference of a length's group, and the other arm."""
    arms = [arm for arm in data["arms"] if arm["group"] == [str(length)]]
    return sorted(arms, key=lambda arm: data["arms"][arm["against"]] is not arm)


def check_table(points, seen, data, groups, where):
    with points.point(f"the table has a heading for each group, and a reference in each ({where})"):
        assert seen["headings"] == [f"length = {length}" for length in LENGTHS], seen["headings"]
        assert seen["rows"] == [text for length, arms in zip(LENGTHS, groups)
                                for text in (f"length = {length}", *(arm["name"] for arm in arms))], seen["rows"]
        assert len(seen["bold"]) == len(LENGTHS), seen["bold"]
    with points.point(f"sorting takes the headings away, and says each arm's group ({where})"):
        labels = sorted(arm["label"] for arm in data["arms"])
        assert sorted(seen["sortedRows"]) == labels and seen["rowsAgain"] == seen["rows"], seen["sortedRows"]
    with points.point(f"memory is in units of ten ({where})"):
        for text, arm in zip(seen["memory"], (arm for arms in groups for arm in arms)):
            number, unit = text.split()
            size = float(number) * {"kB": 1e3, "MB": 1e6, "GB": 1e9}[unit]
            assert abs(size / arm["cost"]["bytes"] - 1) < 0.006, f"{text} for {arm['cost']['bytes']} bytes"


def check_trend(points, seen, data, groups, where):
    (last_reference, last), digits = groups[-1], data["digits"]
    with points.point(f"a line for each name goes across the groups ({where})"):
        assert seen["measures"] == ["val_accuracy", "time", "memory", "parameters", "state"], seen["measures"]
        value = seen["value"]
        assert (value["lines"], value["points"], value["level"]) == (2, 2 * len(LENGTHS), 0), value
        assert value["tip"].startswith(f"length {LENGTHS[-1]}"), value["tip"]
        assert shown(last["mean"], digits["value"]) in value["tip"], value["tip"]
        assert (seen["trendWithout"], seen["trendAgain"]) == (1, 2), seen["trendWithout"]
    with points.point(f"differences are from each group's own reference ({where})"):
        difference = seen["difference"]
        assert (difference["lines"], difference["points"]) == (1, len(LENGTHS)), difference
        told = ("equal, bit for bit" if last["comparison"]["answer"] == "equal"
                else shown_signed(last["comparison"]["difference"], digits["difference"]))
        assert told in difference["tip"], difference["tip"]
        # What isn't above zero has no logarithm.
        assert difference["log"] == all(arms[1]["comparison"]["difference"] > 0 for arms in groups), difference
    with points.point(f"the ratio of memory is that of the plan's bytes ({where})"):
        ratio = last["cost"]["bytes"] / last_reference["cost"]["bytes"]
        text = seen["ratio"]["tip"]
        assert f"{shown(ratio, 3)} ×" in text and "1.000 ×" in text, text
        assert seen["ratio"]["log"] and seen["logarithmic"]["points"] == 2 * len(LENGTHS), seen["logarithmic"]
    with points.point(f"the arrow keys move through the groups ({where})"):
        assert seen["keyTip"].startswith(f"length {LENGTHS[-2]}"), seen["keyTip"]
    with points.point(f"the figure across the groups can be saved ({where})"):
        expected = {"root": "svg", "marks": 2 * len(LENGTHS), "variables": False, "styled": True}
        assert seen["saved"] == expected, seen["saved"]


def check_groups(points, folder):
    """The report of a sweep whose arms are compared within groups."""
    (folder / "groups.toml").write_text(GROUPED, encoding="utf-8")
    out = str(folder / "runs")
    run([HEED, "run", str(folder / "groups.toml"), "--out", out])
    file = run([HEED, "report", out, "--format", "json"]).strip()
    data = json.loads(pathlib.Path(file).read_text(encoding="utf-8"))
    groups = [in_group(data, length) for length in LENGTHS]
    with points.point("every group has a reference of its own"):
        assert data["within"] == [{"key": "task.copy.length", "name": "length"}], data["within"]
        assert all(len(arms) == 2 for arms in groups), [arm["label"] for arm in data["arms"]]
    probed = with_probe(pathlib.Path(run([HEED, "report", out]).strip()), "groups_probe.js")
    for width, dark in ((1280, False), (390, True), (320, False)):
        where = f"groups, {width} pixels wide, {'dark' if dark else 'light'}"
        visit = chromium.visit(probed, width, dark)
        with points.point(f"every section is drawn ({where})"):
            seen = visit.probed()
            assert seen["sections"] == ["answers", "table", "differences", "single", "crossed", "interactions", "trend",
                                        "curves", "lengths", "cost", "talk", "all-answers", "configurations", "runs",
                                        "provenance"], \
                seen["sections"]
            assert not seen["errors"] and not visit.complaints, (seen["errors"], visit.complaints)
            assert seen["width"] == width, seen["width"]
            check_order(seen)
        check_table(points, seen, data, groups, where)
        check_copies(points, seen, dict(data, arms=[arm for arms in groups for arm in arms]), where)
        with points.point(f"a name has one colour in all figures of lines ({where})"):
            first, *others = seen["lineColours"]
            assert len(set(first.values())) == 2 and all(colours == first for colours in others), seen["lineColours"]
        with points.point(f"arms and groups are crossed in a heat map ({where})"):
            assert seen["crossed"]["rows"] == 2 * len(LENGTHS), seen["crossed"]
            assert seen["crossed"]["labels"][0].startswith(f"arm {groups[0][0]['name']}, length {LENGTHS[0]}: "), \
                seen["crossed"]["labels"]
        with points.point(f"differences stand beneath their group's heading, by name ({where})"):
            assert seen["forest"] == {"rows": len(LENGTHS), "headings": seen["headings"],
                                      "labels": [arms[1]["name"] for arms in groups]}, seen["forest"]
        check_trend(points, seen, data, groups, where)
        with points.point(f"curves are those of one group at a time, or of all, a colour for each name ({where})"):
            for figure in ("curves", "lengths"):
                drawn = seen[figure]
                assert drawn["groups"] == [*map(str, LENGTHS), "all"], drawn["groups"]
                assert drawn["legend"] == [arm["name"] for arm in groups[0]], drawn["legend"]
                # What the legend hides in one group is hidden in the next.
                assert (drawn["first"], drawn["second"], drawn["all"], drawn["colours"]) == (2, 1, 8, 2), drawn
                assert drawn["titles"] == [f"length = {length}" for length in LENGTHS], drawn["titles"]
        with points.point(f"accuracy at each length is the mean over the seeds ({where})"):
            by_length = groups[0][1]["by_length"]
            assert by_length["length"][-1] == LENGTHS[0], by_length["length"]
            text = seen["lengths"]["tip"]
            assert text.startswith(f"length {LENGTHS[0]}") and shown(by_length["mean"][-1], 3) in text, text
        with points.point(f"memory and state are among the costs, of one group or of all ({where})"):
            assert seen["costs"] == ["parameters", "FLOPs", "state", "time", "memory"], seen["costs"]
            assert (seen["points"], seen["allPoints"]) == (2, 2 * len(LENGTHS)), seen["points"]
        with points.point(f"no two arms of all groups share a mark ({where})"):
            assert len(set(seen["marks"])) == 2 * len(LENGTHS), seen["marks"]


def check_crossed(points, folder):
    """The report of a sweep that crosses two options, and has an arm that is its reference once more."""
    (folder / "crossed.toml").write_text(CROSSED, encoding="utf-8")
    out = str(folder / "runs")
    run([HEED, "run", str(folder / "crossed.toml"), "--out", out])
    file = run([HEED, "report", out, "--format", "json"]).strip()
    data = json.loads(pathlib.Path(file).read_text(encoding="utf-8"))
    digits = data["digits"]["value"]
    equal = [arm for arm in data["arms"] if arm["comparison"] and arm["comparison"]["answer"] == "equal"]
    with points.point("an arm that comes to the reference's numbers is equal, and no other"):
        assert [arm["label"] for arm in equal] == ["evaluate every = 2"], [arm["label"] for arm in equal]
    # The reference has dot and two heads; every other cell has an arm, but the last.
    places = [(score, heads) for score in SCORES for heads in HEADS]
    def arm_at(score, heads):
        changes = {"attention.score": score} if score != "dot" else {}
        changes.update({"model.heads": str(heads)} if heads != 2 else {})
        return next((arm for arm in data["arms"] if {change["key"]: change["value"] for change in arm["changes"]}
                     == changes), None)
    arms = [arm_at(*place) for place in places]
    probed = with_probe(pathlib.Path(run([HEED, "report", out]).strip()), "factorial_probe.js")
    for width, dark in ((1280, False), (390, True)):
        where = f"crossed, {width} pixels wide, {'dark' if dark else 'light'}"
        visit = chromium.visit(probed, width, dark)
        with points.point(f"the page is in order ({where})"):
            seen = visit.probed()
            assert "crossed" in seen["sections"], seen["sections"]
            assert not seen["errors"] and not visit.complaints, (seen["errors"], visit.complaints)
            check_order(seen)
        with points.point(f"crossed options have an answer on their interaction ({where})"):
            # Of the pairs that both stand in an arm: two scores by two numbers of heads, without the one left out.
            assert len(data["interactions"]) == 3, data["interactions"]
            assert seen["interactions"] == [one["sentence"] for one in data["interactions"]], seen["interactions"]
        with points.point(f"the further metric has its table and answers ({where})"):
            also = data["also"][0]
            assert also["metric"]["name"] == "val_accuracy", also["metric"]
            assert len(seen["further"]) == len(data["arms"]), seen["further"]
            for cells, arm in zip(seen["further"], also["arms"]):
                assert cells[0] == arm["label"] and cells[1] == "6", cells
                assert cells[2].startswith(shown(arm["mean"], also["digits"]["value"])), (cells, arm["mean"])
            assert seen["furtherAnswers"] == len(data["arms"]) - 1, seen["furtherAnswers"]
        views = seen["views"]
        with points.point(f"each cell of the heat map has its arm's number, and says it ({where})"):
            values = views["values"]
            assert values["texts"] == ["\u00b7" if arm is None else shown(arm["mean"], digits) for arm in arms], values
            for (score, heads), label in zip(places, values["labels"]):
                assert label.startswith(f"score {score}, heads {heads}: "), label
            assert values["labels"][-1].endswith("no arm"), values["labels"]
            assert seen["names"] == ["position", "head width", "task.copy.length", "task.sort.length"], seen["names"]
            assert "reference" in values["labels"][1], values["labels"]
        with points.point(f"differences and answers are there, too, with marks beside colours ({where})"):
            for view in ("differences", "answers"):
                assert views[view]["texts"][1] == "reference", views[view]
                assert views[view]["labels"][0].endswith(arms[0]["sentence"]), views[view]
            assert views["differences"]["colours"] > 4 and views["answers"]["marks"] > 0, views
            assert "difference" in views["differences"]["tip"], views["differences"]["tip"]
        with points.point(f"numbers can be read on every colour ({where})"):
            assert all(view["contrast"] >= 4.5 for view in views.values()), {n: v["contrast"] for n, v in views.items()}
        with points.point(f"Tab stops at the heat map once, and the arrow keys go from cell to cell ({where})"):
            assert (seen["stops"], seen["stopsAfter"]) == (1, 1), (seen["stops"], seen["stopsAfter"])
            assert seen["walk"] == [1, 4, 3, 3], seen["walk"]
        with points.point(f"the heat map can be saved ({where})"):
            expected = {"root": "svg", "marks": len(places), "variables": False, "styled": True}
            assert {**seen["saved"], "styled": True} == expected, seen["saved"]
        with points.point(f"what is equal is said to be, and nothing is a zero with a sign ({where})"):
            assert "is equal to the reference, bit for bit" in seen["signs"], seen["signs"]
            assert "equal, bit for bit" in seen["signs"], seen["signs"]
            assert not SIGNED_ZERO.findall(seen["signs"]), SIGNED_ZERO.findall(seen["signs"])


DIVERGED = """name = "diverged"
""" + SHORT_COPIES + MODEL + """[train]
steps = 20
batch = 8
[report]
metric = "val_loss"
[sweep]
seeds = 6
[[sweep.block]]
grid = { "train.learning_rate" = [0.001, 0.0011, 0.0012, 0.0013, 30.0] }
"""


def check_outliers(points, folder):
    """The report of a sweep of which one arm diverged: it leaves the others their room."""
    probed = probed_report(folder, "diverged", DIVERGED, "outliers_probe.js")
    for width, dark in ((1280, False), (390, True)):
        where = f"diverged, {width} pixels wide, {'dark' if dark else 'light'}"
        visit = chromium.visit(probed, width, dark)
        with points.point(f"axes show most arms and runs, and all on request ({where})"):
            seen = visit.probed()
            assert not seen["errors"] and not visit.complaints, (seen["errors"], visit.complaints)
            check_order(seen)
            for figure, number in (("forest", 1), ("single", 6)):
                most, every = seen[figure]
                assert most["outside"] == number and every["outside"] == 0, seen[figure]
                assert most["pressed"][0].startswith("most") and every["pressed"] == ["all"], seen[figure]
                assert most["ticks"] != every["ticks"], seen[figure]
            assert any(text.startswith("6 outside, farthest ") for text in seen["single"][0]["labels"]), seen["single"]


def edited(page, change):
    """A copy of a page with other data."""
    text = page.read_text(encoding="utf-8")
    found = re.search(r'(<script[^>]*id="report-data"[^>]*>)(.*?)</script>', text, re.S)
    data = json.loads(found.group(2))
    change(data)
    copy = page.with_name("edited.html")
    words = json.dumps(data).replace("<", "\\u003c")
    copy.write_text(text[:found.start(2)] + words + text[found.end(2):], encoding="utf-8")
    return copy


def shift(data):
    """Runs beyond the axis, an arm at chance and a large open answer."""
    for name in ("comparison", "runs"):  # no arm diverges
        data["arms"][4][name] = json.loads(json.dumps(data["arms"][3][name]))
    for arm in data["arms"]:
        arm["limit"] = ""
    small, large = data["arms"][3:5]
    large["runs"][0]["value"] = 1e5
    large["learned"] = {"arm": {"seeds": 5, "of": 6}, "from": 3}
    large["limit"] = "at chance"
    small["comparison"].update({"answer": "same", "difference": 1e-6})
    large["comparison"].update({"answer": "undecided", "difference": 0.1})


def check_edges(points, folder):
    """What an arm's row says of its runs, and the slide of its answer."""
    page = edited(pathlib.Path(folder, "diverged", "sweeps").glob("diverged-*/report.html").__next__(), shift)
    seen = chromium.visit(with_probe(page, "outliers_probe.js"), 1280, False).probed()
    with points.point("an arm whose seeds part says how many of its runs are outside"):
        assert not seen["errors"], seen["errors"]
        assert "5 of 6 learned, 1 outside" in seen["single"][0]["labels"], seen["single"][0]["labels"]
    with points.point("the slide says what is at chance, and shows a large open answer before a small same one"):
        rows = seen["slide"]
        assert sum("at chance" in row for row in rows) == 1, rows
        order = [i for word in ("undecided", "same") for i, row in enumerate(rows) if word in row]
        assert order == sorted(order) and len(order) > 1, rows


LONG = [f"a long name of an arm that changes its rate of learning and nothing else, number {i}" for i in range(8)]
CROWDED = """name = "crowded"
""" + SHORT_COPIES + MODEL + """[attention]
score = "dot"
[position]
kind = "sinusoidal"
[train]
steps = 8
batch = 8
evaluate_every = 4
evaluate_lengths = [3, 4, 5, 10]
[report]
question = "Which rates of learning does a small model bear, of those that differ by little, if all else is as it was?"
metric = "val_loss"
also = ["val_accuracy"]
margin = 0.05
[sweep]
seeds = 6
reference = "dot products of queries and keys"
[[sweep.block]]
grid = { "attention.score" = ["dot", "additive"], "model.heads" = [1, 2] }
[[sweep.block]]
kind = "list"
arms.diverged = { train.learning_rate = 1e6, train.optimizer = "sgd", train.clip = 0.0, model.init_std = 100.0 }
""" + "".join(f"[sweep.block.arms.\"{name}\"]\ntrain.learning_rate = {0.0011 + 0.0001 * i:.4f}\n"
             for i, name in enumerate(LONG))


def check_figures(points, seen, where):
    """Names and numbers in the figures can be read, and marks stand on their axes."""
    figures = seen["figures"]
    with points.point(f"no name in a figure is cut, and no numbers of an axis touch ({where})"):
        assert set(figures["cut"].values()) == {0}, figures["cut"]
        assert len(figures["touching"]) > 4 and not any(figures["touching"].values()), figures["touching"]
    with points.point(f"points at each length stand on the plot, names beside it ({where})"):
        assert figures["places"] == 4 * (len(LONG) + 4) and figures["away"] == 0, figures
        assert "longest in training" in figures["names"] and not figures["onPlot"], figures
    with points.point(f"the legend of costs has the arms that have a point ({where})"):
        assert len(seen["costs"]) > 2, seen["costs"]
        for cost in seen["costs"]:
            assert len(cost["points"]) == len(LONG) + 4 and "diverged" not in cost["points"], cost
            assert cost["ticks"] == 0, cost
            if seen["width"] < 600:  # on a wide page, names stand beside the points
                assert sorted(cost["legend"]) == sorted(cost["points"]), cost
    with points.point(f"the mark that sorts stands apart from the next heading ({where})"):
        assert all(gap >= 2 for gap in seen["headingGaps"]), seen["headingGaps"]
        assert bool(seen["headingGaps"]) == (seen["width"] > 600), seen["headingGaps"]


def check_crowded(points, folder):
    """The layout of a report with a dozen arms of long names, two metrics, crossed options, and runs that failed."""
    probed = probed_report(folder, "crowded", CROWDED, "layout_probe.js", fails=True)
    layouts = {}
    for width, dark in ((1920, False), (1280, True), (768, False), (390, True)):
        where = f"crowded, {width} pixels wide, {'dark' if dark else 'light'}"
        visit = chromium.visit(probed, width, dark)
        with points.point(f"nothing is wider than the page, and nothing scrolls within it ({where})"):
            seen = visit.probed()
            assert not seen["errors"] and not visit.complaints, (seen["errors"], visit.complaints)
            assert seen["width"] == width and "crossed" in seen["sections"], (seen["width"], seen["sections"])
            check_order(seen)
            layouts[width] = seen["layouts"]["ablations"]
        with points.point(f"columns that do not fit fold beneath each row, and show on request ({where})"):
            folded = layouts[width] != "all"
            assert seen["folds"] == [folded, 0, len(LONG) + 5 if folded else 0], (layouts, seen["folds"])
        with points.point(f"the second metric's table has the columns of the first ({where})"):
            first, second = seen["heads"]
            assert first[:2] + first[3:] == second[:2] + second[3:] and second[2] == "val_accuracy", seen["heads"]
        with points.point(f"failed runs are grouped by arm and reason, and stand beside the axis ({where})"):
            assert sum(len(row[1].split(", ")) for row in seen["problems"]) == 6, seen["problems"]
            assert len(seen["problems"]) < 6 and seen["problems"][0][0] == "diverged", seen["problems"]
            assert len(seen["crosses"]) == 6 and min(seen["crosses"]) > 0, seen["crosses"]
        check_figures(points, seen, where)
        with points.point(f"on paper, figures are lower, nothing is folded, and headings are texts ({where})"):
            before, during, after = (seen["printed"][when] for when in ("before", "during", "after"))
            assert before == after and before["folded"] > 0 and before["headings"] > 0, seen["printed"]
            assert (during["headings"], during["folded"], during["moved"]) == (0, 0, before["further"]), during
            assert during["words"] == before["words"], during
            assert all(paper < screen for paper, screen in zip(during["heights"], before["heights"])), seen["printed"]
        with points.point(f"the page says how many arms there are, and how many are compared ({where})"):
            counts = f"{len(LONG) + 5} arms (the reference, {len(LONG) + 3} compared with it, 1 without results), 6 seeds; "
            assert seen["lead"].startswith(counts), seen["lead"]
            for figure in ("differences", "curves", "lengths", "cost"):
                assert "Not in this figure, for lack of results: diverged." in seen["captions"][figure], (figure, seen["captions"])
        with points.point(f"the reference has its name ({where})"):
            assert "dot products of queries and keys (reference)" in seen["words"], seen["words"][:500]
    with points.point("a narrow page shows rows as blocks, a wide one all columns or the main ones"):
        assert layouts[390] == "stacked" and layouts[1280] in ("all", "main"), layouts


def check_lone(points, folder):
    """The report of a run without a sweep: there is nothing to compare it with."""
    text = CROWDED.split("[report]")[0].replace("crowded", "lone").replace("steps = 8", "steps = 24")
    text = re.sub("evaluate_lengths.*", "", text)
    (folder / "lone.toml").write_text(text, encoding="utf-8")
    out = str(folder / "lone")
    said = run([HEED, "run", str(folder / "lone.toml"), "--out", out])
    with points.point("the terminal shows a single run with all its metrics, and nothing of a sweep"):
        for name in ("val_loss", "val_accuracy", "train_loss", "parameters"):
            assert any(line.split()[:1] == [name] for line in said.splitlines()), (name, said)
        assert "reference" not in said and "arm" not in said.split("next")[0].split(), said
    probed = with_probe(pathlib.Path(run([HEED, "report", out]).strip()), "layout_probe.js")
    visit = chromium.visit(probed, 768, False)
    with points.point("and so does the page, with both losses in one figure"):
        seen = visit.probed()
        assert not seen["errors"] and not visit.complaints, (seen["errors"], visit.complaints)
        check_order(seen)
        assert "Ablations" not in seen["headings"] and "Results" in seen["headings"], seen["headings"]
        assert "differences" not in seen["sections"] and "reference" not in seen["words"], seen["sections"]
        assert {"val_loss", "val_accuracy", "train_loss", "parameters"} <= set(seen["measured"]), seen["measured"]
        assert seen["curves"] == ["val_loss", "train_loss"], seen["curves"]


def check_elsewhere(points, folder):
    """Reports of tables: with groups, steps and failures, and of runs without seeds."""
    def value(arm, seed, step):
        return "nan" if (arm, seed) == ("new", 3) and step > 10 else 0.1 * step / (seed + 9)
    rows = [f'"{arm} <b>&",{data},{seed},{step},{value(arm, seed, step)}' for arm in ("base", "new", "other")
            for data in ("b", "a") for seed in range(7) for step in (5, 10, 20)]
    (folder / "steps.csv").write_text("\n".join(["model,data,seed,step,acc", *rows]) + "\n", encoding="utf-8")
    pairs = "".join(f"a,{i}\nb,{i * i}\n" for i in range(1, 9))
    (folder / "plain.csv").write_text("model,cost\n" + pairs, encoding="utf-8")
    for table, words in (("steps.csv", ["--metric", "acc", "--group", "data", "--reference", "base"]),
                         ("plain.csv", ["--metric", "cost", "--direction", "lower", "--reference", "a", "--test",
                                        "unpaired"])):
        page = folder / f"{table}.html"
        run([HEED, "compare", str(folder / table), *words, "--format", "html", "--output", str(page)])
        probed = with_probe(page, "layout_probe.js")
        for width in (1200, 390):
            visit = chromium.visit(probed, width, False)
            with points.point(f"the page of {table} says that its runs were made elsewhere, {width} pixels wide"):
                seen = visit.probed()
                assert not seen["errors"] and not visit.complaints, (seen["errors"], visit.complaints)
                assert "Results" in seen["headings"] and "Ablations" not in seen["headings"], seen["headings"]
                assert "configurations" not in seen["sections"], seen["sections"]
                assert "No plan was frozen" in page.read_text(encoding="utf-8")
                assert ("curves" in seen["sections"]) == (table == "steps.csv"), seen["sections"]
                assert "0 seeds" not in seen["words"] and "undefined" not in seen["words"], seen["words"]


def main():
    points = Points()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        data, page = make_sweep(folder)
        probed = with_probe(page)
        with points.point("the report's data are those of the sweep"):
            assert data["name"] == NAME and len(data["arms"]) == ARMS, data["name"]
            assert data["progress"]["finished"] == ARMS * SEEDS - 1, data["progress"]
            assert data["progress"]["left_out"] == 1, "the run whose metrics can't be read"
        plain = chromium.visit_for(page)
        with points.point("the page opens without a word on the console"):
            assert not plain.complaints, plain.complaints
        with points.point("it asks for no file but itself, and for no server"):
            assert not outside(plain.requests), plain.requests
        with points.point("a page that did would be seen"):
            assert outside(chromium.visit_for(asking_copy(page)).requests) == ["http://outside.invalid/x.png"]
        for width, dark in ((1400, False), (390, True), (320, False)):
            where = f"{width} pixels wide, {'dark' if dark else 'light'}"
            visit = chromium.visit(probed, width, dark)
            with points.point(f"every section is drawn, with a mark for each datum ({where})"):
                seen = visit.probed()
                check_drawn(seen, data)
            with points.point(f"nothing goes wrong while it is used ({where})"):
                assert not seen["errors"] and not visit.complaints, (seen["errors"], visit.complaints)
                assert not seen["resources"] and not outside(visit.requests), (seen["resources"], visit.requests)
            with points.point(f"it is as wide as the screen, and every button has a name ({where})"):
                assert seen["width"] == width, seen["width"]
                check_order(seen)
            with points.point(f"each arm's mark is its own, and the reference a ring on top of all ({where})"):
                assert len(set(seen["marks"])) == ARMS, seen["marks"]
                assert seen["lastMark"].startswith("reference: ") and seen["ring"] == "none", seen["lastMark"]
            check_words(points, seen, data, where)
            check_answers(points, seen, data, where)
            check_lines(points, seen, data, where)
            check_talk(points, seen, data, where)
            check_copies(points, seen, data, where)
            with points.point(f"every table can be copied ({where})"):
                assert seen["tables"][0] == seen["tables"][1] > ARMS, seen["tables"]
        with points.point("a name is text, whatever is in it"):
            assert seen["title"].startswith(NAME) and seen["bold"] == 0, seen["title"]
        with points.point("a click on a heading sorts, another turns it round"):
            parameters = sorted(arm["cost"]["parameters"] for arm in data["arms"])
            assert seen["ascending"] == parameters, seen["ascending"]
            assert seen["descending"] == parameters[::-1] and seen["sorted"] == "descending", seen["descending"]
        with points.point("a third click brings the arms' own order back"):
            assert seen["unsorted"] == [[arm["cost"]["parameters"] for arm in data["arms"]], False], seen["unsorted"]
        with points.point("the legend switches an arm off and on"):
            assert (seen["curvesWithout"], seen["curvesAgain"]) == (ARMS - 1, ARMS), seen["curvesWithout"]
        with points.point("hovering shows values"):
            assert "step" in seen["curveTip"] and "reference" in seen["curveTip"], seen["curveTip"]
            assert "pairs of runs" in seen["forestTip"], seen["forestTip"]
            assert "query" in seen["mapTip"] and "position" in seen["mapTip"], seen["mapTip"]
        with points.point("a map can be enlarged, with all its tokens, and compared with the reference's"):
            assert seen["enlarged"] == 1 and seen["tokens"] == ["<", "a", "␣", "&"] * 2, seen["tokens"]
            assert seen["differenceMaps"] == 2, seen["differenceMaps"]
        with points.point("the scale of weights has both signs where there are negative ones"):
            assert seen["ramps"] == ["\u22120.90+0.90   weight", "01   weight"], seen["ramps"]
        with points.point("inputs of the config are there for every arm, and what can't be read is said"):
            assert seen["inputs"] == ["<a &", "3 1 4 1 5 | 5 1"], seen["inputs"]
            assert (seen["realMaps"], seen["realDifferences"]) == (ARMS * 2, (ARMS - 1) * 2), seen["realMaps"]
            labels = ", ".join(arm["label"] for arm in data["arms"])  # one reason, for all of them
            assert len(seen["lacking"]) == 1 and seen["lacking"][0].startswith(f"{labels}: "), seen["lacking"]
            assert '"cats" is not a word' in seen["lacking"][0], seen["lacking"]
            made = data["arms"][2]["runs"][0]["attention"][0]
            assert made["step"] == 20 and made["heads"][1]["queries"] == "3 1 4 1 5 | 5 1".split(), made["input"]
        with points.point("a saved figure has its styles within"):
            expected = {"root": "svg", "marks": ARMS - 1, "variables": False, "styled": True}
            assert seen["saved"] == expected, seen["saved"]
    with tempfile.TemporaryDirectory() as name:
        check_groups(points, pathlib.Path(name))
    with tempfile.TemporaryDirectory() as name:
        check_crossed(points, pathlib.Path(name))
    with tempfile.TemporaryDirectory() as name:
        check_outliers(points, pathlib.Path(name))
        check_edges(points, pathlib.Path(name))
    with tempfile.TemporaryDirectory() as name:
        check_crowded(points, pathlib.Path(name))
        check_lone(points, pathlib.Path(name))
        check_elsewhere(points, pathlib.Path(name))
    points.plan()


if chromium.program() is None:
    print("1..0 # SKIP there is no Chromium: apt-get install chromium")
else:
    try:
        main()
    except subprocess.CalledProcessError as problem:
        print(f"Bail out! {problem}\n{problem.stdout}\n{problem.stderr}")
        sys.exit(1)
