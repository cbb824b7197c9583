"""Statements: text that stays text, and odds that round up."""

import math

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from privacy.losses import Loss
from server.use_cases.losses.odds import odds_factor, promise_in_words
from server.use_cases.oversight.markdown import bullets, code_block, plain, table
from tests.effort import rounds


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a|b", r"a\|b"),
        ("one\ntwo\r\nthree", "one two three"),
        ("<script>", r"\<script>"),
        ("[x](y)", r"\[x\](y)"),
        ("![x](y)", r"!\[x\](y)"),
        ("`code`", r"\`code\`"),
        ("Größe 5", "Größe 5"),
        ("a\x00b", r"a\\u{0}b"),
        ("a\u2028b", r"a\\u{2028}b"),
        ("# x #", r"\# x \#"),
        ("C# 5", "C# 5"),
        ("- x", r"\- x"),
        ("1. x", r"1\. x"),
        ("1234) x", r"1234\) x"),
        ("123456789.", r"123456789\."),
        ("1234567890. x", "1234567890. x"),
        ("1234.5 x", "1234.5 x"),
        ("> x", r"\> x"),
        ("0.5", "0.5"),
        ("-5", "-5"),
        ("---", r"\---"),
        ("__x__ a_b *c* ~d~", r"\_\_x\_\_ a_b \*c\* \~d\~"),
        ("&amp; R&D & e", r"\&amp; R\&D & e"),
        ("https://a.b www.a.b a@b.c", r"https\://a.b www\.a.b a\@b.c"),
        ("local:root, s_1 (0.5); 10 -> 12", "local:root, s_1 (0.5); 10 -> 12"),
        ("2026-05-04T09:30:00+00:00", "2026-05-04T09:30:00+00:00"),
    ],
)
def test_plain_text_stays_one_line_of_text(text, shown):
    assert plain(text) == shown


LETTERS = st.text(st.sampled_from("\\\\`*_[](){}<>#+-=.!|~&;:/@$ \t\n19abw\"'x"))
NUMBERED = st.from_regex(r"[0-9]{1,11}[.)]( [19ab.)#-]{0,3})?", fullmatch=True)
ACTIVE = LETTERS | NUMBERED
MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])


@settings(max_examples=rounds(2_000), deadline=None)
@given(ACTIVE)
@example("www.x.org")
@example("<http://x>")
@example("a\n# b")
@example("&#64;&copy;")
@example("1234. x")
@example("123456789)")
def test_whatever_is_written_shows_as_it_stands_wherever_it_is_put(text):
    shown = " ".join(text.split())
    places = {
        f"# Report: {plain(text)}": f"Report: {shown}".rstrip(),
        bullets([text]): shown,
        table(("fact", "x"), [("a", text)]): shown,
    }
    for markdown, expected in places.items():
        assert text_of(markdown)[-1] == expected, markdown


def text_of(markdown):
    """Return the text of each block; anything but text in it is an error."""
    found = []
    for token in MARKDOWN.parse(markdown):
        if token.type == "inline":
            kinds = {child.type for child in token.children}
            assert kinds <= {"text", "text_special"}, kinds
            found.append("".join(child.content for child in token.children))
    return found or [""]


@pytest.mark.parametrize("ticks", ["", "`", "```", "`````", "a ```` b `"])
def test_a_fence_is_longer_than_any_run_in_it(ticks):
    first, *body, last = code_block(f"x {ticks} y").splitlines()
    assert first == last + "sql"
    assert last not in "\n".join(body)


def test_a_cell_cannot_end_its_row():
    text = table(("a", "b"), [("x | y", "z\n| w |")])
    assert text.splitlines()[2:] == [r"| x \| y | z \| w \| |"]


@pytest.mark.parametrize("epsilon", ["0", "0.001", "0.1", "1", "3", "9.9", "19.99"])
def test_odds_never_round_down(epsilon):
    shown = float(odds_factor(Loss.parse(epsilon)).replace(",", ""))
    true = math.exp(float(epsilon))
    assert true * (1 - 1e-12) <= shown <= true * 1.02


def test_a_large_cap_is_called_one():
    assert "so large" in promise("10", "0")
    assert "so large" not in promise("9.9", "0")


def test_a_cap_of_nothing_promises_that_nothing_was_told():
    assert "nothing was answered" in promise("0", "0")


@pytest.mark.parametrize("cap", ["0", "1"])
def test_a_cap_that_was_lowered_below_what_is_spent_promises_what_is_spent(cap):
    words = promise(cap, "1.5")
    assert "e^1.5 = 4.49" in words
    assert f"lowered to {cap} when 1.5 was spent" in words


def promise(cap, spent):
    return promise_in_words("patient", Loss.parse(cap), Loss.parse(spent))
