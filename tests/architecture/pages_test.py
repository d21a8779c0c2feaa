#!/usr/bin/env python3
"""The project's Markdown: no link or anchor is broken; every page of docs/ stands in its index, is short and names its
reader. Usage: pages_test.py CHECKOUT      prints TAP; nothing has to be built
"""

import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
tests = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(tests), str(tests / "guide")]

import documents  # noqa: E402
from tap import Points  # noqa: E402

CHECKOUT = pathlib.Path(sys.argv[1]).resolve()
LONGEST = 2500  # words of a page that is not a reference
# Pages that are long records, and not read from the beginning to the end.
RECORDS = {"performance.md", "reliability.md", "results.md"}
points = Points()


def every_page():
    return documents.markdown(CHECKOUT)


def pages_of_the_tree():
    """The pages for users."""
    docs = CHECKOUT / "docs"
    return [*(docs / f"{name}.md" for name in ("README", "tutorial", "coming-from", "faq", "glossary")),
            *(page for folder in ("how-to", "reference", "explanation")
              for page in sorted((docs / folder).glob("*.md")))]


def words_of(page):
    return len(page.read_text(encoding="utf-8").split())


def broken(page):
    """Links of the page that lead nowhere."""
    found = []
    for path, anchor in documents.links(page):
        target = page.parent / path if path else page
        if not target.exists():
            found.append(f"there is no {path}")
        elif anchor and anchor not in documents.anchors(target):
            found.append(f"{path or page.name} has no heading #{anchor}")
    return found


def first_sentence(page):
    """The first line of text after the title."""
    lines = [line for _, line, _, fenced in documents.lines_with_sections(page) if not fenced]
    return next(line for line in lines if line and not line.startswith(("#", "<!--")))


def the_checks_notice():
    """A page with faults: each is found."""
    with tempfile.TemporaryDirectory() as name:
        page = pathlib.Path(name) / "a.md"
        page.write_text("# A\n\nOf pages: [b](b.md), [c](#c), [d](#a), ![picture](p.svg).\n\n"
                        "[web](https://x.org/b.md)\n\n```\n[code](no.md)\n```\n\n`[word](no.md)`\n\n"
                        "## Two words, `x`\n\n[e](a.md#two-words-x)\n")
        assert broken(page) == ["there is no b.md", "a.md has no heading #c", "there is no p.svg"], broken(page)
        assert not first_sentence(page).startswith("For ")


def main():
    with points.point("a page with broken links, anchors and pictures is noticed"):
        the_checks_notice()
    for page in every_page():
        with points.point(f"{page.relative_to(CHECKOUT)}: every link within the project leads somewhere"):
            found = broken(page)
            assert not found, "; ".join(found)
    index = {(CHECKOUT / "docs" / path).resolve() for path, _ in documents.links(CHECKOUT / "docs" / "README.md")}
    docs = CHECKOUT / "docs"
    for page in every_page():
        if docs not in page.parents or page == docs / "README.md":
            continue
        with points.point(f"{page.relative_to(CHECKOUT)} stands in docs/README.md"):
            assert page in index or page.parent in index, "add a line to docs/README.md"
        if "reference" not in page.parts and page.name not in RECORDS:
            with points.point(f"{page.relative_to(CHECKOUT)} has at most {LONGEST} words"):
                assert words_of(page) <= LONGEST, f"it has {words_of(page)}: split it"
    for page in pages_of_the_tree():
        with points.point(f"{page.relative_to(CHECKOUT)} names its reader first"):
            first = first_sentence(page)
            assert first.startswith("For "), f"its first sentence does not begin with For: {first}"
    points.plan()


main()
