"""Holds comments, names and messages of the C++ sources, messages of the reports' page, and the documentation, to plain
words: constructions that read as something else, each with what to write instead. Also: no line of a source has more than 120 columns, and no source
outside of tests/ more than 450 lines.

`findings(path, text)` gives (line, sentence) of one file; ./heed style calls it for all. An exception says why, in
EXCEPTIONS.
"""

import re

COLUMNS = 120
LINES = 450

# A construction, and what is wrong with it and what to write.
COMMENTS = [
    (r"all the same", "reads as 'identical': write nevertheless, or still"),
    (r"(comes?|came|coming) to", "reads as 'arrives': write gives, is, or yields"),
    (r"(goes|going|went|gone) on", "write continues, resumes, or happens"),
    (r"whoever|nobody's", "write who it is: the caller, a process, a user; of memory: dead"),
    (r"(?:is|are|was|were|be) told of", "write is reported"),
    (r"so many-th", "write every n-th"),
    (r"behind", "reads as 'hidden by': write after, beyond, later, or earlier"),
    (r"in the way", "an idiom: say what hinders what"),
    (r"evened? out", "write matched (in parameters or FLOPs)"),
    (r"heaps", "write modes, or bimodal"),
    (r"from (?:a |an )?(?!now|here|then)\w+ on", "reads as a place: write 'of N or more', or 'since'"),
    (r"leaves? \w+ alone", "reads as 'does not touch': write only"),
    (r"unlike (?:rows|numbers|bits|lengths|CPUs)", "reads as a comparison: write different"),
]

# Further constructions that a user must not meet in a message, a help text or the description of an option.
MESSAGES = [*COMMENTS[:10], *COMMENTS[11:],  # "a list of integers from 0 on" is right in a message
    (r"from (?:a |an )?(?!now|here|then)[a-z]\w* on", "reads as a place: write 'of N or more', or 'since'"),
    (r"go on", "write continue, resume, or happen"),
    (r"alone", "reads as 'lonely': write only"),
    (r"unlike", "reads as a comparison: write different"),
    (r"likewise", "say what is the same: name it again"),
    (r"beside", "reads as a place: write in addition to, or and"),
    (r"so (?:many|wide|long|far apart)(?! as)", "name the number: write N, or the option"),
    (r"told (?:apart|of|by)", "write distinguished, supported, or reported"),
    (r"(?:is|are|was|were) kept", "reads as 'held back': write saved, stored, cached, or stays"),
    (r"puts? out", "write writes, prints, or outputs"),
    (r"looks? (?:inside|back|ahead)", "say what is measured, or computed"),
    (r"once more", "write again"),
    (r"(?:which|who) says? so", "say what says it"),
    (r"begins? so", "write begins like this"),
    (r"leaves? (?:nothing|no room)", "say what is too small, or empty"),
    (r"(?:of|with) no use", "write does nothing, or has no effect"),
    (r"what (?:it|they) comes? to", "write the result"),
]

# A name that had a meaning of its own here, and the field's.
NAMES = {
    "slopes": "gradients", "Into": "GradTarget", "Aside": "NestedTape", "Transient": "ArenaScope",
    "StepWeight": "PackedWeight", "FixedWeights": "FrozenWeights", "hand_on": "donate_gradient",
    "InnerForm": "DotProductForm", "PairwiseForm": "AdditiveForm", "ScoreTerms": "AttentionBias",
    "KeyValues": "KVCache", "Onlooker": "StatsObserver", "Silencer": "HeadAblation",
    "training_outline": "training_sequence_lengths", "KeptData": "DataCache", "Listing": "Dataset",
    "RunLook": "RunSnapshot", "QueueLook": "QueueSnapshot", "Matched": "BudgetMatch", "Executed": "ExecutionSummary",
    "MetricsSum": "MetricsChecksum", "sayable": "in_vocabulary",
}

# Files in which a construction is right, and why.
EXCEPTIONS = {
    "tests/layers/relative_position_test.cpp": {"slopes"},  # ALiBi's: the paper's word
    "layers/block.hpp": {"behind"},  # a member's name
}


def texts_of_page(text):
    """(line, text) of a Markdown page, without its code."""
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        fence = line.startswith("```")
        if not fenced and not fence:
            yield number, re.sub(r"`[^`]*`", "``", line)
        fenced ^= fence


def words_found(path, texts):
    """The constructions in (line, text)."""
    for number, text in texts:
        for construction, instead in COMMENTS:
            found = re.search(rf"\b(?:{construction})\b", text, re.I)
            if found and construction not in EXCEPTIONS.get(path, {}):
                yield number, f"\"{found.group()}\" {instead}"


def comments_and_code(text):
    """(line, comment, code) of each line of C++; texts in quotes are in neither."""
    within = False
    for number, line in enumerate(text.split("\n"), 1):
        if within:
            end = line.find(')"')
            within = end < 0
            yield number, "", "" if within else line[end + 2:]
            continue
        raw = re.search(r'R"\w*\(', line)
        plain = re.sub(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'', '""', line[:raw.start()] if raw else line)
        within = bool(raw) and ')"' not in line[raw.end():] and not re.search(r'\)\w+"', line[raw.end():])
        code, _, comment = plain.partition("//")
        yield number, comment, code


STRING = r'"(?:\\.|[^"\\\n])*"'
# Comments, raw strings and characters come first, so that quotes within them begin no string.
TOKENS = re.compile(rf"//[^\n]*|R\"(\w*)\((?s:.*?)\)\1\"|'(?:\\.|[^'\\])'|({STRING}(?:\s*{STRING})*)")


def messages(text):
    """(line, message) of each text in quotes that has more than one word; adjacent strings are one message. Raw strings
    are left out: they are files."""
    for token in TOKENS.finditer(text):
        if token.group(2):
            message = "".join(part[1:-1] for part in re.findall(STRING, token.group(2))).replace("\\n", " ")
            if " " in message.strip():
                yield text.count("\n", 0, token.start()) + 1, message


# Tokens of JavaScript. Comments and regular expressions come first, so that quotes within them begin no string.
SCRIPT_TOKENS = re.compile(r"//[^\n]*|/\*(?s:.*?)\*/|(?<=[(,=:!?&|])\s*/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/"
                           rf"|{STRING}|'(?:\\.|[^'\\\n])*'|[`{{}}]")


class Script:
    """The messages of JavaScript: texts that are joined by + are one, and {} stands for a value within a template."""

    def __init__(self, text):
        self.text, self.messages = text, []
        self.code(0, False)

    def code(self, at, within):
        """Reads from a place to the brace that ends the block, or to the end, and returns the place after it."""
        while token := SCRIPT_TOKENS.search(self.text, at):
            at, kind = token.end(), token.group()[0]
            if kind == "{":
                at = self.code(at, True)
            elif kind == "}" and within:
                return at
            elif kind in "\"'`":
                begin, parts, at = token.start(), [], token.start()
                while joined := re.compile(r"\s*\+?\s*(?=[\"'`])" if parts else "").match(self.text, at):
                    part, at = self.string(joined.end())
                    parts.append(part)
                self.messages.append((self.text.count("\n", 0, begin) + 1, "".join(parts)))
        return at

    def string(self, at):
        """The text of the string or template that begins here, and the place after it."""
        if self.text[at] != "`":
            token = SCRIPT_TOKENS.match(self.text, at)
            return token.group()[1:-1], token.end()
        parts, at = [], at + 1
        while (part := re.compile(r"\\.|\$\{|`|[^\\$`]+|\$", re.S).match(self.text, at)).group() != "`":
            at = self.code(part.end(), True) if part.group() == "${" else part.end()
            parts.append("{}" if part.group() == "${" else part.group())
        return "".join(parts), part.end()


def bad_messages(path, texts):
    """The constructions in (line, message)."""
    for number, message in texts:
        for construction, instead in MESSAGES:
            found = re.search(rf"\b(?:{construction})\b", message, re.I)
            if found and construction not in EXCEPTIONS.get(path, {}):
                yield number, f"\"{found.group()}\" in a message: {instead}"


def findings(path, text):
    if path.endswith(".md"):
        yield from words_found(path, texts_of_page(text))
        return
    if path.endswith(".js"):
        yield from bad_messages(path, (found for found in sorted(Script(text).messages) if " " in found[1].strip()))
        return
    allowed = EXCEPTIONS.get(path, {})
    if not path.startswith("tests/") and text.count("\n") > LINES:
        yield LINES + 1, f"the file has {text.count(chr(10))} lines; at most {LINES}: what is its second job?"
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > COLUMNS:
            yield number, f"{len(line)} columns; at most {COLUMNS}"
    yield from words_found(path, ((number, comment) for number, comment, _ in comments_and_code(text)))
    for number, _, code in comments_and_code(text):
        for name in re.findall(r"[A-Za-z_]\w*", code):
            if name in NAMES and name not in allowed:
                yield number, f"{name} is called {NAMES[name]} here"
    if not path.startswith(("experiments/", "layers/", "options/", "autograd/")):
        return
    yield from bad_messages(path, messages(text))
