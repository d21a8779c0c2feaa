#!/usr/bin/env python3
"""The check of comments, names and messages (tests/prose.py) finds what it lists, and only there.

Usage: prose_test.py SOURCE_ROOT
"""

import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import prose  # noqa: E402
from tap import run_case  # noqa: E402

ROOT = pathlib.Path(sys.argv[1])


def lines(text, path="experiments/x.cpp"):
    return [number for number, _ in prose.findings(path, text)]


class Prose(unittest.TestCase):
    def test_each_construction_is_found_in_a_comment(self):
        for sentence in ("It stays all the same.", "What it comes to.", "The run goes on.", "For whoever asks.",
                         "It is told of each.", "Every so many-th step.", "The keys behind a query.",
                         "And nothing is in the way.", "Arms are evened out.", "Two heaps of values.",
                         "Pages from a mebibyte on.", "It leaves attention alone.", "Steps of unlike rows."):
            for comment in (f"// {sentence}", f"int x; // {sentence}", f"/// {sentence}"):
                self.assertEqual(lines(f"int y;\n{comment}\n"), [2], comment)

    def test_a_reason_says_what_to_write(self):
        (_, said), = prose.findings("experiments/x.cpp", "// the keys behind a query")
        self.assertIn("later", said)

    def test_each_construction_is_found_in_a_message(self):
        for sentence in ("It stays all the same.", "What it comes to.", "The keys behind a query.", "the runs go on",
                         "the baseline alone", "unlike nodes", "as above, likewise", "the score's, beside the input's",
                         "Steps of unlike rows.", "in so many batches", "is told of it", "at most 9 can be told apart",
                         "Two heaps of values.", "the weights are kept", "what a model puts out", "a look inside it",
                         "train it once more", "and the file says so: which says so", "no name begins so",
                         "it leaves no room", "this is of no use", "and what they come to", "from a mebibyte on"):
            self.assertIn(2, lines(f'int y;\nsay("{sentence}");\n'), sentence)

    def test_a_message_in_several_strings_is_one(self):
        self.assertEqual(lines('int y;\nsay("it goes "\n    "on");'), [2])

    def test_messages_of_tests_are_left(self):
        for path in ("tests/x.cpp", "benchmarks/x.cpp"):
            self.assertEqual(lines('say("it goes on");', path), [], path)

    def test_words_values_and_plain_words_are_left(self):
        for line in ('say("behind");', "// The loss goes down; a message comes first.",
                     "// From now on, rows are read.", "// alone, unlike the t test", "int behind = whoever;",
                     'R"(// it goes on)";', 'say("a list of integers from 0 on");', 'say("so long as it runs");',
                     "f('\"'); // it is \"kept\"", 'say("the pieces that are left");'):
            self.assertEqual(lines(line), [], line)

    def test_pages_are_read_without_their_code(self):
        page = "All the same.\n```\nall the same\n```\n`all the same`\nIt goes on.\n"
        self.assertEqual(lines(page, "docs/x.md"), [1, 6])
        self.assertEqual(lines("int all; // the same\n" * 500, "docs/x.md"), [])

    def test_messages_of_scripts_are_found(self):
        for script in ('say("it goes on");', 'say("it goes " +\n  "on");', "say(`it goes on ${n} times`);",
                       'say(`it goes ${n ? "a" : "b"}` + " and likewise");', "say('it goes on');",
                       'f(/["`]/, "it goes on");', 'say(`${n ? `it goes on` : ""}`);', 'f(a / b, "it goes on", c / d);',
                       '/* "a" */ say({ a: "it goes on" });'):
            self.assertEqual(lines(f"let y;\n{script}\n", "experiments/x.js"), [2], script)

    def test_code_and_comments_of_scripts_are_left(self):
        for script in ('// it goes on', '/* it goes\non */', 'f(/it goes on/);', 'behind = "goes";', 'f("behind");',
                       'say(`${it("goes")} on`);', 'say("it goes", "on");', 'f(/"/, `it is ${/goes on/}`);'):
            self.assertEqual(lines(script, "experiments/x.js"), [], script)

    def test_names_that_were_replaced_are_found_in_code(self):
        self.assertEqual(lines("struct Into {};\n// Into what\nreturn \"Into\";"), [1])

    def test_long_lines_are_found(self):
        self.assertEqual(lines("x" * 120 + "\n" + "x" * 121), [2])

    def test_long_files_are_found_outside_of_tests(self):
        self.assertEqual(lines("\n" * 450), [])
        self.assertEqual(lines("\n" * 451), [451])
        self.assertEqual(lines("\n" * 451, "tests/x.cpp"), [])

    def test_every_exception_is_needed(self):
        for path, allowed in prose.EXCEPTIONS.items():
            text = (ROOT / path).read_text(encoding="utf-8")
            self.assertEqual(lines(text, path), [], path)
            said = " ".join(what for _, what in prose.findings("elsewhere.cpp", text))
            for word in allowed:
                self.assertIn(word, said, path)


if __name__ == "__main__":
    run_case(Prose)
