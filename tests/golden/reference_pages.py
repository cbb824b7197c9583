"""The pages that are made from the rules and the golden refusals.

``CURATOR_GOLDEN=1`` lets the tests rewrite them; a reviewer reads the difference.
"""

from collections import defaultdict
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from privacy.errors import QueryError
from query_lang.reading.parse import parse_query
from query_lang.syntax.rules import RULES
from server.demo.manifest import MANIFEST
from tests.golden.meanings import REFUSED_BY_MEANING, REFUSED_ON_CLINIC, UNREACHED
from tests.golden.refusals import REFUSED
from tests.support.compiling import compile_query
from upstream.manifests.manifest import load_manifest

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs/query-language.md"
REFUSALS = ROOT / "docs/refusals.md"
ALL_REFUSALS = ROOT / "docs/refusals-all.md"
TABLE_HEAD = "| rule | what is wrong | what to write |\n|---|---|---|\n"
MOST_SHOWN = 220  # characters of a text
EXAMPLES = 3  # of each rule, on the researchers' page
INTRODUCTION = """\
# Refusals by example

What a refusal's `rule` means, and what to write instead: at most three examples of each
rule. Nothing is charged for a refusal. Each names its rule, the line and column (both
from 1) and the nearest allowed form. What is allowed: [the query
language](query-language.md). Every text that a test holds to be refused:
[all refusals](refusals-all.md).

The page is made from the golden refusals, and a test holds that it is current.
"""
ALL_INTRODUCTION = """\
# All refusals

For reviewers: every text of the golden refusals, rule by rule; a test holds that each is
refused as it says here, and that this page is current. [Refusals by example](refusals.md)
is the shorter page for researchers.
"""
CONVENTIONS = """
Long texts are cut; line breaks, control characters and signs that are hard to see are
written as escapes. Texts that parsing refuses speak of tables that need not exist; the
others ask the demo hospital, or the clinic of `examples/clinic` where it says so.
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


def rule_table():
    """Return the reference page's table: a line for each rule."""
    lines = [
        f"| `{rule.name}` | {_cell(rule.detail)} | {_cell(rule.hint)} |\n"
        for _, rule in sorted(RULES.items())
    ]
    return TABLE_HEAD + "".join(lines)


def reference_page():
    """Return the reference page with its table as the rules are now."""
    text = REFERENCE.read_text("utf-8")
    return text[: text.index(TABLE_HEAD)] + rule_table()


def refusals_page():
    """Return the researchers' page: a few golden refusals of each rule."""
    parts = [INTRODUCTION + CONVENTIONS]
    for name, items in _found().items():
        rule = RULES[name]
        head = f"## `{name}`\n\nWrong: {rule.detail}.\n\nInstead: {rule.hint}\n"
        shown = sorted(items, key=lambda item: "instead:" not in item)[:EXAMPLES]
        parts.append(head + "\n" + "".join(shown))
    return "\n".join(parts)


def all_refusals_page():
    """Return the page of all golden refusals, rule by rule."""
    parts = [ALL_INTRODUCTION + CONVENTIONS]
    parts += [f"## `{name}`\n\n" + "".join(items) for name, items in _found().items()]
    return "\n".join(parts)


@cache
def _found():
    """Return each rule's refused texts, as lists' items, in the order of the rules."""
    found = defaultdict(list)
    for sql, *_ in REFUSED:
        _note(found, refusal(sql), sql, "")
    for _, sql in REFUSED_BY_MEANING:
        _note(found, refusal(sql, hospital()), sql, "")
    for _, sql in REFUSED_ON_CLINIC:
        _note(found, refusal(sql, clinic()), sql, "clinic, ")
    return {
        name: found[name] or [f"- no text meets this rule: {UNREACHED[name]}\n"]
        for name in sorted(RULES)
    }


def _note(found, error, sql, where):
    rule = RULES[error.rule]
    more = []
    if error.detail != rule.detail:
        more.append(error.detail)
    if error.hint != rule.hint:
        more.append(f"instead: {error.hint}")
    said = f": {'; '.join(more)}" if more else ""
    place = f"({where}line {error.line}, column {error.column})"
    found[error.rule].append(f"- {_code(sql)} {place}{said}\n")


def _cell(text):
    return text.replace("|", "\\|")


def _code(sql):
    """Show a text as code: on one line, in signs that can be seen, cut if long."""
    shown = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in sql)
    if len(shown) > MOST_SHOWN:
        shown = f"{shown[:MOST_SHOWN]} ... ({len(sql):,} characters)"
    if not shown:
        return "the empty text"
    fence = "``" if "`" in shown else "`"
    pad = " " if "`" in shown else ""
    return f"{fence}{pad}{shown.strip()}{pad}{fence}"
