"""Reports of mtsamples.com with identifiers put into them at known places.

Run: ``python -m benchmarks.extraction.injection --data FOLDER OUT`` writes the three
parts as JSON lines. A report belongs to one part; names, towns and hospitals of the
judged part are in no other, and a third of its wordings are of its own.
"""

import argparse
import re
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.extraction.corpora import Parts, add_data, reports_of
from benchmarks.extraction.injected.residue import replaced
from benchmarks.extraction.injected.wordings import FOOTERS, HEADERS, SENTENCES
from server.demo.notes.lists import Lists
from server.demo.notes.notes import draw_stay, slots_of
from server.demo.notes.people import Person, draw_person, draw_street, pick
from server.demo.notes.writing import (
    Segment,
    Slots,
    broken,
    joined,
    misspelt,
    segments,
    wrapped,
)
from upstream.extraction.gold.json_spans import write_json_spans
from upstream.extraction.text.documents import Place, TextDocument, pieces_of
from upstream.extraction.text.spans import AnnotatedDocument

SEED = 2026
_JUDGED_NAMES = 3  # one of so many parts of the lists
_PRONOUNS = (r"\b(?:she|her|woman|female)\b", r"\b(?:he|his|him|man|male)\b")
_SENTENCE_END = re.compile(r"(?<=[a-z)]\.) +(?=[A-Z])|\n(?=[A-Z])")
_SPOKEN_OF = re.compile(r"\b[Tt]he patient\b(?!')")
_RELATIVE = re.compile(
    r"\b(?:his|her) (?:wife|husband|mother|father|son|daughter|sister|brother)\b"
    r"(?!['\u2019\w]| (?:and|or|has|had|died|with)\b)"
)


@dataclass(frozen=True, slots=True)
class Ways:
    """What is put into the reports of a part: names of its own, and wordings."""

    lists: Lists
    headers: tuple[str, ...]
    footers: tuple[str, ...]
    sentences: tuple[str, ...]


def injected_parts(
    data: Path, most: int | None = None, judged: str = "judge", seed: int = SEED
) -> Parts:
    """Return reports to learn from, to tune on, and to judge on: 6 to 1 to 3 of ten.

    Args:
        data: The folder of all data.
        most: Reports at most; none: all.
        judged: What the reports to judge on have: ``judge`` or ``unseen``.
        seed: Another seed puts in others.
    """
    found: dict[str, list[AnnotatedDocument]] = {"train": [], "tune": [], "judge": []}
    ways = {name: ways_of(judged if name == "judge" else "train") for name in found}
    for report in sorted(reports_of(data), key=_place)[:most]:
        digit = _place(report) % 10
        part = "train" if digit < 6 else "tune" if digit < 7 else "judge"
        found[part].append(injected(report["id"], report["text"], ways[part], seed))
    return Parts(found["train"], found["tune"], found["judge"])


def _place(report: dict) -> int:
    return zlib.crc32(str(report["id"]).encode())


def ways_of(kind: str) -> Ways:
    """Return what is put into reports.

    Args:
        kind: ``train``, to learn from; ``judge``, to judge on; ``unseen``, to judge on
            without any wording that is learned from.
    """
    lists = [Lists().part(number, _JUDGED_NAMES) for number in range(_JUDGED_NAMES)]
    own = _together(lists[:-1]) if kind == "train" else lists[-1]
    kinds = ("judge",) if kind == "unseen" else ("both", kind)
    headers, footers, sentences = (
        tuple(wording for each in kinds for wording in wordings[each])
        for wordings in (HEADERS, FOOTERS, SENTENCES)
    )
    return Ways(own, headers, footers, sentences)


def _together(parts: Sequence[Lists]) -> Lists:
    fields = ("women", "men", "surnames", "cities", "streets", "hospitals")
    return Lists(*(sum((getattr(each, name) for each in parts), ()) for name in fields))


def injected(
    name: object,
    text: str,
    ways: Ways,
    seed: int = SEED,
    whose: Person | None = None,
) -> AnnotatedDocument:
    """Return a report with identifiers, and where they are; the same at every call.

    Args:
        name: The report's; what is drawn depends on it.
        text: What it says.
        ways: What is put into it.
        seed: Another seed puts in others.
        whose: The patient; none: somebody of the sex that the report has.
    """
    rng = np.random.default_rng((seed, zlib.crc32(str(name).encode())))
    lists = ways.lists
    person = whose or _like(rng, text, lists)
    stay = draw_stay(rng, lists)
    slots = {
        **slots_of(rng, person, stay, stay.admitted, lists),
        "address_of_hospital": lambda: Segment(
            f"{draw_street(rng, lists)}, {pick(rng, lists.cities)}", "LOCATION"
        ),
    }
    parts: list[Segment] = []
    if rng.random() < 0.75:
        parts += segments(rng, pick(rng, ways.headers), slots)
    parts += _body(rng, text, ways, slots)
    if rng.random() < 0.6:
        parts += segments(rng, pick(rng, ways.footers), slots)
    spelt = misspelt(rng, parts, float(pick(rng, (0.0, 0.0, 0.002, 0.01))))
    written, spans = joined(spelt)
    written = _laid_out(rng, written)
    document = TextDocument(
        f"mtsamples-{name}", written, Place("mtsamples"), pieces_of(written, "utf-8")
    )
    return AnnotatedDocument(document, spans)


def _like(rng: np.random.Generator, text: str, lists: Lists) -> Person:
    """Return a patient of the sex that the report's pronouns have."""
    she, he = (len(re.findall(words, text, re.IGNORECASE)) for words in _PRONOUNS)
    while True:
        person = draw_person(rng, lists, int(rng.integers(10**6)))
        if she == he or person.is_female == (she > he):
            return person


def _body(
    rng: np.random.Generator, text: str, ways: Ways, slots: Slots
) -> Iterable[Segment]:
    for part in replaced(text, slots):
        if part.label is not None:
            yield part
        else:
            yield from _told(rng, part.text, ways, slots)


def _told(
    rng: np.random.Generator, text: str, ways: Ways, slots: Slots
) -> Iterable[Segment]:
    """Yield plain text with sentences, and names for the patient and relatives."""
    rate = min(0.25, 6 / max(text.count(". "), 1))
    changes = [
        (match.start(), match.end(), wording)
        for pattern, odds, wording in (
            (_SENTENCE_END, rate, None),
            (_SPOKEN_OF, 0.12, "{title} {last}"),
            (_RELATIVE, 0.4, "{kin}"),
        )
        for match in pattern.finditer(text)
        if rng.random() < odds
    ]
    reached = 0
    for start, end, wording in sorted(changes, key=lambda change: change[:2]):
        yield Segment(text[reached:start])
        if wording is None:
            yield Segment(text[start:end])
            yield from segments(rng, pick(rng, ways.sentences) + " ", slots)
        elif wording == "{kin}":
            yield Segment(text[start:end] + " ")
            yield slots["kin"]()
        else:
            yield from segments(rng, wording, slots)
        reached = end
    yield Segment(text[reached:])


def _laid_out(rng: np.random.Generator, text: str) -> str:
    drawn = rng.random()
    if drawn < 0.25:
        return wrapped(text, int(rng.integers(55, 100)))
    return broken(rng, text, 0.01) if drawn < 0.35 else text


def main() -> None:
    """Write the parts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_data(parser)
    parser.add_argument("--documents", type=int, help="at most; default: all")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("out", type=Path, help="a folder")
    told = parser.parse_args()
    told.out.mkdir(parents=True, exist_ok=True)
    parts = injected_parts(told.data, told.documents, seed=told.seed)
    for name in ("train", "tune", "judge"):
        documents = getattr(parts, name)
        write_json_spans(documents, told.out / f"{name}.jsonl")
        spans = sum(len(each.spans) for each in documents)
        print(f"{name}: {len(documents)} documents, {spans:,} spans")


if __name__ == "__main__":
    main()
