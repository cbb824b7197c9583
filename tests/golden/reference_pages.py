"""The pages that are made from the rules and the golden refusals.

``CURATOR_GOLDEN=1`` lets the tests rewrite them; a reviewer reads the difference.
"""

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from privacy.errors import QueryError
from query_lang.reading.parse import parse_query
from query_lang.syntax.rules import RULES
from server.demo.manifest import MANIFEST
from tests.golden.meanings import REFUSED_BY_MEANING, REFUSED_ON_CLINIC, UNREACHED
from tests.golden.refusals import REFUSED
from tests.golden.rule_topics import OF_PRIVACY, TOPICS
from tests.support.compiling import compile_query
from upstream.manifests.manifest import load_manifest

ROOT = Path(__file__).parents[2]
REFUSALS = ROOT / "docs/refusals.md"
ALL_REFUSALS = ROOT / "docs/refusals-all.md"
MOST_SHOWN = 220  # characters of a text
FEW_SHOWN = 120  # on the researchers' page
EXAMPLES = 3  # of each rule, on the researchers' page
INTRODUCTION = """\
# Refusals by example

A refused question costs nothing. The refusal names a `rule`, the line and the column of your
text (both count from 1), and what to write instead. This page has every rule, with up to three
texts that it refuses. To find yours, search the page for the rule's name, or look under its
heading:

{topics}

Some rules protect patients, and other SQL does not have them: {privacy}.
[What the language allows](query-language.md) says why.
"""
ALL_INTRODUCTION = """\
# All refusals

This page is for reviewers. It has every text that a test holds to be refused, rule by rule.
[Refusals by example](refusals.md) is the shorter page for researchers.
"""
CONVENTIONS = """
The texts ask the demo hospital, or the clinic of `examples/clinic` where it says so. Some
name tables that do not exist: these are refused before any table is looked up. Long texts
are cut. Line breaks, control characters and signs that are hard to see are written as
escapes. The page is made from the texts of a test, which holds that it is current.
"""


@cache
def hospital():
    """Return the public schema of the demo hospital."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "hospital.yaml"
        path.write_text(MANIFEST, "utf-8")
        return load_manifest(path).schema()


@cache
def clinic():
    """Return the public schema of the example clinic."""
    return load_manifest(ROOT / "examples/clinic/clinic.yaml").schema()


def refusal(sql, dataset=None):
    """Return the error of a text that parsing, or compiling over a dataset, refuses."""
    try:
        if dataset is None:
            parse_query(sql)
        else:
            compile_query(sql, dataset)
    except QueryError as error:
        return error
    message = f"accepted: {sql}"
    raise AssertionError(message)


def refusals_page():
    """Return the researchers' page: the rules by topic, a few refused texts of each."""
    topics = "\n".join(
        f"- [{title}](#{_anchor(title)}): {_links(names.split())}"
        for title, names in TOPICS.items()
    )
    introduction = INTRODUCTION.format(topics=topics, privacy=_links(OF_PRIVACY))
    parts = [introduction + CONVENTIONS]
    for title, names in TOPICS.items():
        parts.append(f"## {title}\n")
        parts += [_rule_part(RULES[name]) for name in names.split()]
    return "\n".join(parts)


def all_refusals_page():
    """Return the page of all golden refusals, rule by rule."""
    parts = [ALL_INTRODUCTION + CONVENTIONS]
    for name, texts in _found().items():
        items = "".join(f"- {text.whole()}\n" for text in texts)
        parts.append(f"## `{name}`\n\n" + (items or _unreached(name)))
    return "\n".join(parts)


@dataclass(frozen=True)
class Refused:
    """A text that is refused, with what the refusal says beyond its rule."""

    sql: str
    place: str
    detail: str
    hint: str

    def whole(self):
        """Return the text with its place and all that is said of it."""
        said = "; ".join(filter(None, [self.detail, self.hint]))
        return f"{_code(self.sql)} ({self.place})" + (f": {said}" if said else "")

    def short(self, told):
        """Return the text, cut, with what was not told already."""
        said = [part for part in (self.detail, self.hint) if part and part not in told]
        told.update(said)
        ends = f": {'; '.join(said)}" if said else ""
        where = " (clinic)" if self.place.startswith("clinic") else ""
        return _code(self.sql, FEW_SHOWN) + where + ends


@cache
def _found():
    """Return the refused texts of each rule, in the order of the rules' names."""
    found = defaultdict(list)
    for sql, *_ in REFUSED:
        _note(found, refusal(sql), sql, "")
    for _, sql in REFUSED_BY_MEANING:
        _note(found, refusal(sql, hospital()), sql, "")
    for _, sql in REFUSED_ON_CLINIC:
        _note(found, refusal(sql, clinic()), sql, "clinic, ")
    return {name: found[name] for name in sorted(RULES)}


def _note(found, error, sql, where):
    rule = RULES[error.rule]
    detail = error.detail if error.detail != rule.detail else ""
    hint = f"instead: {error.hint}" if error.hint != rule.hint else ""
    place = f"{where}line {error.line}, column {error.column}"
    found[error.rule].append(Refused(sql, place, detail, hint))


def _rule_part(rule):
    """Return a rule's heading, what it says, and a few texts that it refuses."""
    told = set()
    texts = sorted(_found()[rule.name], key=lambda text: not text.hint)
    hints = [text.hint for text in texts]
    texts.sort(key=lambda text: bool(text.hint) and hints.count(text.hint) > EXAMPLES)
    items = "".join(f"- {text.short(told)}\n" for text in texts[:EXAMPLES])
    head = f"### `{rule.name}`\n\n{_sentence(rule.detail)} Instead: {rule.hint}\n"
    return f"{head}\n{items or _unreached(rule.name)}"


def _unreached(name):
    return f"- no text meets this rule: {UNREACHED[name]}\n"


def _sentence(text):
    return f"{text[0].upper()}{text[1:]}."


def _anchor(title):
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def _links(names):
    return ", ".join(f"[`{name}`](#{name})" for name in names)


def _code(sql, most=MOST_SHOWN):
    """Show a text as code: on one line, in signs that can be seen, cut if long."""
    shown = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in sql)
    if len(shown) > most:
        shown = f"{shown[:most]} ... ({len(sql):,} characters)"
    if not shown:
        return "the empty text"
    fence = "``" if "`" in shown else "`"
    pad = " " if "`" in shown else ""
    return f"{fence}{pad}{shown.strip()}{pad}{fence}"
