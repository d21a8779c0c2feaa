"""C++ sources as mutation testing reads them: where one token can be exchanged, and a text that holds all exchanges.

Expressions are found from tokens alone, which the project's formatting allows: binary operators have spaces around them,
and template arguments have none inside their brackets. A text that this gets wrong doesn't compile, and is dropped then.
"""

import re
from dataclasses import dataclass

# Kinds of tokens: one is exchanged for another of its kind.
KINDS = [["+", "-", "*", "/"], ["<", "<=", ">", ">="], ["==", "!="], ["&&", "||"], ["&", "|", "^"], ["<<", ">>"],
         ["+=", "-=", "*=", "/="], ["&=", "|=", "^="], ["<<=", ">>="], ["++", "--"], ["true", "false"], ["min", "max"]]
EXCHANGES = {token: [other for other in kind if other != token] for kind in KINDS for token in kind} | {
    "%": KINDS[0], "%=": ["+=", "-=", "*=", "/="]}
ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
UNEVALUATED = {"decltype", "sizeof", "alignof", "alignas", "noexcept", "requires", "static_assert", "__attribute__"}
CONTROLS = {"if", "for", "while", "switch", "catch"}
BEFORE_EXPRESSIONS = {"return", "throw", "else", "do", "case", "co_return"}
CLOSED = {")": "(", "]": "[", "}": "{"}

TOKEN = re.compile(r"""
    (?P<space>\s+|//[^\n]*|/\*.*?\*/)
  | (?P<directive>\#(?:\\\n|[^\n])*)
  | (?P<text>(?:u8|[uUL])?(?:R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'))
  | (?P<number>\.?\d(?:[eEpP][+-]|'?[\w.])*)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<sign><=>|<<=|>>=|\.\.\.|->\*|->|::|\+\+|--|[-+*/%&|^=!<>]=|&&|\|\||<<|>>|.)
""", re.X | re.S)


@dataclass
class Token:
    text: str
    kind: str
    begin: int
    end: int
    conditional: bool  # between #if and #endif


@dataclass
class Mutant:
    """One token of a file exchanged. `first` and `last` are the tokens of the expression around it."""
    file: str
    line: int
    column: int
    before: str
    after: str
    choices: list  # what else it could be exchanged for
    token: int
    first: int
    last: int
    number: int = 0


class Source:
    def __init__(self, file, text):
        self.file, self.text = file, text
        self.tokens = scanned(text)
        self.partner, self.constant = self._brackets()

    def _brackets(self):
        """The other bracket of each, and the tokens that are no code that runs: template arguments, sizes and such."""
        partner, constant, open_ = {}, set(), []
        for i, token in enumerate(self.tokens):
            tight = not self._space_before(i)
            word = self.tokens[i - 1].text if i else ""
            if token.text in ("(", "[", "{") or \
                    token.text == "<" and (tight or word == "template") and word != "operator":
                open_.append(i)
            elif token.text in (">", ">>") and tight:
                for _ in token.text:
                    if open_ and self.tokens[open_[-1]].text == "<":
                        begin = open_.pop()
                        partner[begin], partner[i] = i, begin
                        constant.update(range(begin, i + 1))
            elif token.text in CLOSED:
                while open_ and self.tokens[open_[-1]].text == "<":
                    open_.pop()
                if open_ and self.tokens[open_[-1]].text == CLOSED[token.text]:
                    begin = open_.pop()
                    partner[begin], partner[i] = i, begin
                    before = [t.text for t in self.tokens[max(begin - 2, 0):begin]]
                    if before[-1:] and before[-1] in UNEVALUATED or before == ["if", "constexpr"] or \
                            token.text == "]" and before[-1:] == ["["]:
                        constant.update(range(begin, i + 1))
        for i, token in enumerate(self.tokens):
            if token.text == "constexpr":
                constant.update(range(i, self._end_of_variable(i)))
        return partner, constant

    def _end_of_variable(self, i):
        """Where the declaration that `constexpr` begins ends, if it is a variable's."""
        begin = i
        while i < len(self.tokens) and self.tokens[i].text not in ("=", "(", "{", ";"):
            i += 1
        if i == len(self.tokens) or self.tokens[i].text in ("(", ";"):
            return begin
        while i < len(self.tokens) and self.tokens[i].text != ";":
            i += 1
        return i

    def _space_before(self, i):
        begin = self.tokens[i].begin
        return begin == 0 or self.text[begin - 1].isspace()

    def _space_after(self, i):
        return self.text[self.tokens[i].end:self.tokens[i].end + 1].isspace()

    def mutants(self):
        """Every place of this text where a token can be exchanged, in the text's order, with its first exchange."""
        found = []
        for i, token in enumerate(self.tokens):
            if token.conditional or i in self.constant:
                continue
            choices = self._exchanges(i)
            if not choices:
                continue
            first, last = self._expression(i)
            if any(t.kind == "directive" or "\n" in t.text for t in self.tokens[first:last + 1]):
                continue
            line = self.text.count("\n", 0, token.begin) + 1
            column = token.begin - self.text.rfind("\n", 0, token.begin)
            found.append(Mutant(self.file, line, column, token.text, choices[0], choices, i, first, last))
        return found

    def _exchanges(self, i):
        token = self.tokens[i]
        before = self.tokens[i - 1] if i else None
        if token.kind == "number":
            return other_numbers(token.text)
        if token.text in ("true", "false", "++", "--"):
            return EXCHANGES[token.text]
        if token.text in ("min", "max"):
            called = i + 1 < len(self.tokens) and self.tokens[i + 1].text == "("
            return EXCHANGES[token.text] if called else []
        if token.kind != "sign" or before is None or before.text == "operator":
            return []
        if token.text == "!":
            return ["!!"]  # nothing but a truth value, as a condition's
        spaced = self._space_before(i) and self._space_after(i)
        operand = before.kind in ("word", "number", "text") and before.text not in BEFORE_EXPRESSIONS or \
            before.text in (")", "]", "}", ">", "++", "--")
        if token.text == "-" and not self._space_after(i):
            return [] if operand else [""]
        return EXCHANGES.get(token.text, []) if spaced and operand else []

    def _expression(self, i):
        """The first and the last token of the expression around token i: all of it, within its brackets."""
        first = i
        while first > 0:
            token = self.tokens[first - 1]
            if token.text in ("(", "[", "{", ";", ",", "?", ":") or token.text in BEFORE_EXPRESSIONS or \
                    token.text in ASSIGNMENTS or token.kind == "directive" or \
                    token.text == "<" and first - 1 in self.partner:
                break
            if first - 1 in self.partner:
                begin = self.partner[first - 1]
                if self._ends_statement(begin, first - 1):
                    break
                first = begin
            else:
                first -= 1
        last, choices = i, 0
        while last + 1 < len(self.tokens):
            token = self.tokens[last + 1]
            if self.tokens[i].text in ASSIGNMENTS and token.text in ("?", ":"):  # x += a ? b : c
                choices += 1 if token.text == "?" else -1
                if choices < 0:
                    break
            elif token.text in (")", "]", "}", ";", ",", "?", ":") or token.kind == "directive" or \
                    token.text in (">", ">>") and last + 1 in self.partner:
                break
            last = self.partner.get(last + 1, last + 1)
        return first, last

    def _ends_statement(self, begin, end):
        """Whether what these brackets enclose ends a statement, or its head, so that another begins after it."""
        before = [t.text for t in self.tokens[max(begin - 2, 0):begin]]
        if self.tokens[end].text == ")":
            return before[-1:] and before[-1] in CONTROLS or before == ["if", "constexpr"]
        if self.tokens[end].text != "}" or end + 1 >= len(self.tokens):
            return False
        following = self.tokens[end + 1]
        on_next_line = "\n" in self.text[self.tokens[end].end:following.begin]
        return on_next_line or following.kind in ("word", "number", "text")

    def switched(self, mutants, header):
        """The text with all these mutants in it, each of which `heed_mutant<number>()` of `header` switches on.

        Lines keep their numbers."""
        return f'#include "{header}"\n#line 1\n' + self._switched(0, len(self.text), mutants)

    def _switched(self, begin, end, mutants):
        out = ""
        spans = sorted({(self.tokens[m.first].begin, self.tokens[m.last].end) for m in mutants},
                       key=lambda span: (span[0], -span[1]))
        for first, last in spans:
            if first < begin:  # within one that was written
                continue
            inside = [m for m in mutants if first <= self.tokens[m.first].begin and self.tokens[m.last].end <= last]
            own = [m for m in inside if (self.tokens[m.first].begin, self.tokens[m.last].end) == (first, last)]
            here = f"({self._switched(first, last, [m for m in inside if m not in own])})"
            for mutant in own:
                here = f"(::heed_mutant<{mutant.number}>() ? ({self.mutated(mutant)}) : {here})"
            out += self.text[begin:first] + here
            begin = last
        return out + self.text[begin:end]

    def mutated(self, mutant):
        """The mutant's expression, on one line."""
        return self._expression_with(mutant, mutant.after)

    def place(self, mutant):
        """The expression as it is, with its token marked."""
        return self._expression_with(mutant, f"[[{mutant.before}]]")

    def _expression_with(self, mutant, text):
        words = [text if i == mutant.token else self.tokens[i].text for i in range(mutant.first, mutant.last + 1)]
        return " ".join(word for word in words if word)

    def lines_of(self, mutant):
        """The lines that the mutant's expression has, for the compiler's complaints."""
        begin = self.text.count("\n", 0, self.tokens[mutant.first].begin) + 1
        return range(begin, begin + self.text.count("\n", self.tokens[mutant.first].begin,
                                                    self.tokens[mutant.last].end) + 1)


def scanned(text):
    tokens, depth = [], 0
    for match in TOKEN.finditer(text):
        kind = match.lastgroup if match.lastgroup != "mark" else "text"
        if kind == "space":
            continue
        if kind == "directive":
            depth += bool(re.match(r"#\s*if", match.group())) - bool(re.match(r"#\s*endif", match.group()))
        tokens.append(Token(match.group(), kind, match.start(), match.end(), depth > 0))
    return tokens


def other_numbers(number):
    """Of a whole number its neighbours and 0; of a real one its double, or 1 for 0."""
    plain = number.replace("'", "")
    if whole := re.fullmatch(r"(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)([uUlLzZ]*)", plain):
        digits, suffix = whole.groups()
        base = {"0x": 16, "0b": 2}.get(digits[:2].lower(), 10)
        value = int(digits, base)
        others = [value + 1] + [value - 1] * (value > 0) + [0] * (value > 1)
        return [(hex(other) if base == 16 else str(other)) + suffix for other in others]
    if real := re.fullmatch(r"(\d*\.?\d*(?:[eE][+-]?\d+)?)([fFlL]?)", plain):
        return [repr(2 * float(real[1]) or 1.0) + real[2]]
    return []
