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
from tap import Points, run  # noqa: E402

NAME = "</script><b>50 % & a \"name\""
CONFIG = """name = '''</script><b>50 % & a "name"'''
[task]
kind = "reverse"
validation = 32
[task.reverse]
length = 5
symbols = 6
[model]
layers = 1
width = 16
heads = 2
[train]
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
[model]
layers = 1
width = 16
heads = 2
[attention]
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


def attention(tokens, sharp):
    """An attention.json as another program may leave it: two heads that look at the token before, `sharp`ly or not."""
    heads = []
    for head in range(2):
        weights = [[sharp if key == max(0, query - head) else (1 - sharp) / (len(tokens) - 1)
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
    for arm, sharp in ((0, 0.9), (1, 0.4)):
        pathlib.Path(arms[arm]["runs"][0]["folder"], "attention.json").write_text(
            attention(["<", "a", " ", "&"], sharp), encoding="utf-8")
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


def check_drawn(seen, data):
    arms = data["arms"]
    compared = [arm for arm in arms if arm["comparison"]]
    assert seen["sections"] == ["answers", "table", "differences", "curves", "cost", "attention", "problems",
                                "configurations", "runs", "provenance"], seen["sections"]
    drawn = {"answers": len(arms) - 1, "rows": len(arms), "forest": len(compared), "curves": len(arms),
             "bands": len(arms), "points": len(arms), "configurations": len(arms), "maps": 4, "problems": 1}
    for what, number in drawn.items():
        assert seen[what] == number, f"{what}: {seen[what]}, expected {number}"


def check_words(points, seen, data, where):
    """The table says in words what its marks say, and what its columns are."""
    def word(arm):
        if not arm["comparison"]:
            return ""
        answer, better = arm["comparison"]["answer"], arm["comparison"]["difference"] > 0
        return f"differs: {'better' if better else 'worse'}" if answer == "differs" else answer

    with points.point(f"the table has each arm's answer as a word ({where})"):
        assert seen["answerWords"] == [word(arm) for arm in data["arms"]], seen["answerWords"]
    with points.point(f"every column beyond the common ones is explained, at its head and beneath ({where})"):
        for column in ("d", "P(better)", "FLOPs a step"):
            notes = [note for note in seen["notes"] if note.startswith(f"{column}: ")]
            assert len(notes) == 1 and notes[0] in dict(seen["titles"])[column], (column, seen["notes"])
    with points.point(f"no number that rounds to zero has a sign ({where})"):
        signed_zeros = re.findall(r"[-+\u2212]0(?:\.0+)?(?![.\d])", seen["tableText"])
        assert not signed_zeros and "0.00" in seen["tableText"], signed_zeros


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
        assert seen["measures"] == ["val_accuracy", "time", "memory", "parameters"], seen["measures"]
        value = seen["value"]
        assert (value["lines"], value["points"], value["level"]) == (2, 2 * len(LENGTHS), 0), value
        assert value["tip"].startswith(f"length {LENGTHS[-1]}"), value["tip"]
        assert shown(last["mean"], digits["value"]) in value["tip"], value["tip"]
        assert (seen["trendWithout"], seen["trendAgain"]) == (1, 2), seen["trendWithout"]
    with points.point(f"differences are from each group's own reference ({where})"):
        difference = seen["difference"]
        assert (difference["lines"], difference["points"]) == (1, len(LENGTHS)), difference
        interval = ", ".join(shown_signed(end, digits["difference"]) for end in last["comparison"]["interval"])
        assert f"[{interval}]" in difference["tip"], difference["tip"]
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
            assert seen["sections"] == ["answers", "table", "differences", "trend", "curves", "lengths", "cost",
                                        "configurations", "runs", "provenance"], seen["sections"]
            assert not seen["errors"] and not visit.complaints, (seen["errors"], visit.complaints)
            assert seen["width"] == width, seen["width"]
            assert seen["overflow"] <= 0 and seen["unnamed"] == 0, (seen["overflow"], seen["unnamed"])
        check_table(points, seen, data, groups, where)
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
        with points.point(f"accuracy at each length is the mean over the seeds ({where})"):
            by_length = groups[0][1]["by_length"]
            assert by_length["length"][-1] == LENGTHS[0], by_length["length"]
            text = seen["lengths"]["tip"]
            assert text.startswith(f"length {LENGTHS[0]}") and shown(by_length["mean"][-1], 3) in text, text
        with points.point(f"memory is among the costs, of one group or of all ({where})"):
            assert seen["costs"] == ["parameters", "FLOPs", "time", "memory"], seen["costs"]
            assert (seen["points"], seen["allPoints"]) == (2, 2 * len(LENGTHS)), seen["points"]
        with points.point(f"no two arms of all groups share a mark ({where})"):
            assert len(set(seen["marks"])) == 2 * len(LENGTHS), seen["marks"]


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
                assert seen["overflow"] <= 0 and seen["unnamed"] == 0, (seen["overflow"], seen["unnamed"])
            with points.point(f"each arm's mark is its own, and the reference a ring on top of all ({where})"):
                assert len(set(seen["marks"])) == ARMS, seen["marks"]
                assert seen["lastMark"].startswith("reference: ") and seen["ring"] == "none", seen["lastMark"]
            check_words(points, seen, data, where)
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
    points.plan()


if chromium.program() is None:
    print("1..0 # SKIP there is no Chromium: apt-get install chromium")
else:
    try:
        main()
    except subprocess.CalledProcessError as problem:
        print(f"Bail out! {problem}\n{problem.stdout}\n{problem.stderr}")
        sys.exit(1)
