"""Whether a term is denied: "no fever" is no fever.

Words that deny reach over the tokens behind them, or before them, until a word that
ends their reach, the sentence's end, or a number of tokens.
Source: Chapman et al. 2001 (NegEx); the lists are our own, of English, Spanish and
German.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Final

from upstream.extraction.features.phrases import Dictionary, dictionary_of
from upstream.extraction.text.covered import Covered
from upstream.extraction.text.tokens import Tokens

REACH: Final = 8
"""Tokens that a denial reaches over, besides those of lists."""

_AHEAD = (
    "no, not, without, denies, denied, denying, negative for, no evidence of, no "
    "sign of, no signs of, free of, absence of, absent, never, nor, rules out, "
    "ruled out for, fails to reveal, no history of, never had, declines, none of, "
    "lack of, lacks, sin, niega, negativo para, negativa para, ausencia de, "
    "tampoco, ni, descarta, no refiere, no presenta, sin evidencia de, sin signos "
    "de, nunca, no se observa, no se observan, no muestra, negó, nego, negaba, "
    "niegan, negando, negaron, descartó, descartaron, sin datos de, exento de, "
    "kein, keine, keinen, keinem, keiner, keines, keinerlei, nicht, ohne, weder, "
    "nie, niemals, verneint, verneinte, verneinen, negiert, kein anhalt für, kein "
    "hinweis auf, keine hinweise auf, kein nachweis von, ausschluss von, frei von"
)
_BEHIND = (
    "is ruled out, was ruled out, are ruled out, were ruled out, has been ruled "
    "out, is negative, was negative, are negative, were negative, is absent, was "
    "absent, not seen, not present, is denied, was denied, unlikely, descartado, "
    "descartada, fue descartado, fue descartada, negativo, negativa, ausente, "
    "ausentes, negativos, ausgeschlossen, nicht nachweisbar, nicht vorhanden, wird "
    "verneint, werden verneint, wurde verneint, wurden verneint"
)
_NO_DENIALS = (
    "no increase, no change, not only, no further, not certain, not necessarily, "
    "no new, without difficulty, gram negative, no doubt, sin duda, no solo, sin "
    "embargo, sin cambios, not sure, no longer certain, nicht nur, keine zunahme, "
    "keine änderung, keine veränderung, nicht sicher, nicht auszuschließen, nicht "
    "ausgeschlossen, kein zweifel"
)
_ENDS = (
    "but, however, although, though, except, aside from, apart from, yet, still, "
    "because, secondary to, due to, which, who, presents with, presented with, "
    "complains of, pero, aunque, salvo, excepto, por, debido a, refiere, "
    "presenta, y presenta, and reports, reports, reported, positive for, admits, "
    "admits to, has, had, aber, jedoch, sondern, obwohl, außer, bis auf, wegen, "
    "aufgrund, bei, klagt über, berichtet über, gibt an, hat, hatte"
)
_ANSWERS = frozenset(
    {"no", "none", "nil", "negative", "neg", "absent", "denied", "denies"}
    | {"ninguno", "ninguna", "negativo", "negativa", "ausente", "niega", "nada"}
    | {"ausentes", "negativos", "negativas"}
    | {"nein", "kein", "keine", "keiner", "negativ", "verneint", "fehlt"}
)
"""What stands behind a term and a colon where a form was filled in."""
_ENTRIES = frozenset({"negative", "neg", "absent", "negativ", "verneint"})
"""Of these, what denies a short entry of a list without a sign: "cough negative,"."""
_LONGEST_ENTRY = 3  # tokens
_DASHES = frozenset("-\N{EN DASH}\N{EM DASH}\N{MINUS SIGN}")
_ENTRY_ENDS = frozenset(",.;)/|")
_SENTENCE_ENDS = frozenset(".;:!?")


class Denial(Enum):
    """What a phrase does to the terms near it."""

    AHEAD = _AHEAD
    BEHIND = _BEHIND
    NONE = _NO_DENIALS
    ENDS = _ENDS
    ANSWER = ""


def _dictionary(denial: Denial) -> Dictionary:
    return dictionary_of(denial.name, denial.value.split(","))


_DICTIONARIES = {denial: _dictionary(denial) for denial in Denial if denial.value}


@dataclass(frozen=True, slots=True)
class _Cue:
    start: int
    end: int
    denial: Denial


def denied_tokens(tokens: Tokens) -> frozenset[int]:
    """Return the indexes of tokens that a denial reaches.

    >>> from upstream.extraction.text.tokens import tokenize
    >>> tokens = tokenize("Denies fever or chills, but has a cough.")
    >>> [tokens.words[at] for at in sorted(denied_tokens(tokens))]
    ['fever', 'or', 'chills', ',']
    >>> tokens = tokenize("Fever: no, cough: yes. Sweats: none")
    >>> [tokens.words[at] for at in sorted(denied_tokens(tokens))]
    ['Fever', 'Sweats']
    """
    lower = tuple(word.lower() for word in tokens.words)
    breaks = _breaks(tokens)
    answers = [at for at in range(1, len(lower)) if _is_answer(tokens, lower, at)]
    cues = _cues(lower, answers)
    breaks_of_forms = breaks.union(
        at
        for at, word in enumerate(lower[:-1] if answers else ())
        if word == "," or "\n" in _between(tokens, at)
    )
    within = {at: cue for cue in cues for at in range(cue.start, cue.end)}
    denied: set[int] = set()
    for cue in cues:
        if cue.denial is Denial.AHEAD:
            denied |= _reached(range(cue.end, len(lower)), within, breaks)
        elif cue.denial is Denial.BEHIND:
            denied |= _reached(range(cue.start - 1, -1, -1), within, breaks)
        elif cue.denial is Denial.ANSWER:
            asked = range(cue.start - 2, -1, -1)  # what stands before the colon
            denied |= _reached(asked, within, breaks_of_forms)
    return frozenset(denied)


def _is_answer(tokens: Tokens, lower: tuple[str, ...], at: int) -> bool:
    """Whether a token answers what stands two tokens before it, and further ahead.

    It does behind a colon, a dash between blanks, or in brackets: "Fever: no", "Fever -
    absent.", "fever (-)". What ends an entry such as "fever negative," does, too.
    """
    word, before = lower[at], lower[at - 1]
    if before in _ENTRIES and word in _ENTRY_ENDS:
        return _is_entry(tokens, lower, at - 1)
    if before == "(":
        is_closed = lower[at + 1 : at + 2] == (")",)
        return is_closed and (word in _ANSWERS or word in _DASHES)
    is_asked = before == ":" or (before in _DASHES and _is_apart(tokens, at - 1))
    if word not in _ANSWERS or not is_asked:
        return False
    is_last = at + 1 == len(lower) or lower[at + 1] in _ENTRY_ENDS
    return is_last or "\n" in _between(tokens, at)


def _is_entry(tokens: Tokens, lower: tuple[str, ...], at: int) -> bool:
    """Whether few tokens stand before a word, up to a line's begin or a separator."""
    for first in range(at, max(0, at - _LONGEST_ENTRY - 1), -1):
        before = lower[first - 1]
        is_begin = before in _ENTRY_ENDS or before in _SENTENCE_ENDS or before == "("
        if is_begin or "\n" in _between(tokens, first - 1):
            return first < at
    return at <= _LONGEST_ENTRY


def _is_apart(tokens: Tokens, at: int) -> bool:
    """Whether blanks stand on both sides of a sign, and no line ends there."""
    blanks = (_between(tokens, at - 1), _between(tokens, at)) if at > 0 else ("",)
    return all(each and "\n" not in each for each in blanks)


def _between(tokens: Tokens, at: int) -> str:
    """Return what stands between a token and the next."""
    return tokens.text[int(tokens.ends[at]) : int(tokens.starts[at + 1])]


def _cues(words: tuple[str, ...], answers: list[int]) -> list[_Cue]:
    """Return the cues, the longest where several begin or overlap."""
    found = [
        _Cue(start, end, denial)
        for denial, dictionary in _DICTIONARIES.items()
        for start, end in dictionary.spans(words)
    ]
    found.sort(key=lambda cue: (cue.start - cue.end, cue.start))
    kept = [_Cue(at, at + 1, Denial.ANSWER) for at in answers]
    taken = Covered((cue.start, cue.end) for cue in kept)
    for cue in found:
        if not taken.meets(cue.start, cue.end):
            taken.add(cue.start, cue.end)
            kept.append(cue)
    return kept


def _breaks(tokens: Tokens) -> frozenset[int]:
    """Return the tokens that end sentences."""
    return frozenset(
        at
        for at, word in enumerate(tokens.words)
        if word in _SENTENCE_ENDS and not _is_inside(tokens, at)
    )


def _is_inside(tokens: Tokens, at: int) -> bool:
    """Whether a sign stands between characters, as the point of 38.5 does."""
    end = int(tokens.ends[at])
    return end < len(tokens.text) and not tokens.text[end].isspace()


def _reached(places: range, cues: dict[int, _Cue], breaks: frozenset[int]) -> set[int]:
    reached: set[int] = set()
    for steps, at in enumerate(places):
        cue = cues.get(at)
        ends_here = cue is not None and cue.denial is not Denial.NONE
        if at in breaks or ends_here or steps >= REACH:
            break
        reached.add(at)
    return reached
