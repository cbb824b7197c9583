"""Lists of terms in files of a custodian, and term models as bytes."""

import csv
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from upstream.extraction.terms.terms import (
    Terminology,
    TermModel,
    number_keys,
    term_key,
)

MOST_BYTES = 2**26
"""Of one file of terms: ICD-10-CM with all its descriptions has a tenth of it."""
_FORMAT = 1
_LONGEST_PHRASE = 1_000  # characters
_FIELDS = 2


class TermFileError(ValueError):
    """A file of terms cannot be used; the message names the file and the line."""


class _Term(NamedTuple):
    """A term of a file; ``is_itself``: nothing is written that it stands for."""

    line: int
    phrase: str
    meaning: str
    is_itself: bool


class _Terms:
    """The terms of a file; of those that are found as one, one meaning."""

    def __init__(self, name: str) -> None:
        self.meanings: dict[str, str] = {}
        self._name = name
        self._known: dict[str, _Term] = {}

    def add(self, term: _Term) -> None:
        """Add a term.

        Raises:
            TermFileError: It is found as another is that stands for something else.
        """
        key = term_key(term.phrase)
        first = self._known.setdefault(key, term)
        self._require_one_meaning(first, term)
        for other in number_keys(key):
            self._require_one_meaning(self._known.get(other, term), term)
        self.meanings.setdefault(term.phrase, first.meaning)

    def _require_one_meaning(self, first: _Term, term: _Term) -> None:
        if first.meaning == term.meaning or (first.is_itself and term.is_itself):
            return
        message = (
            f"{self._name}:{term.line}: {term.phrase!r} stands for two things "
            f"(see {first.phrase!r} in line {first.line}): keep one"
        )
        raise TermFileError(message)


def read_terminology(path: Path, kind: str) -> Terminology:
    """Return the terms of a file: one a line, or a CSV of phrase and meaning.

    Args:
        path: UTF-8; a comma, a semicolon or a tab stands before the meaning, the same
            in all lines; empty lines and those that begin with # are skipped.
        kind: What its terms are.

    Raises:
        TermFileError: It cannot be read, there is no phrase, or phrases that are found
            as one (by case, blanks or a plural's s) stand for two things.
    """
    terms = _Terms(path.name)
    try:
        if path.stat().st_size > MOST_BYTES:
            message = f"{path.name} has more than {MOST_BYTES:,} bytes: split its terms"
            raise TermFileError(message)
        with path.open(encoding="utf-8-sig", newline="") as lines:
            for term in _rows(lines, path.name):
                terms.add(term)
    except UnicodeDecodeError as error:
        message = f"{path.name} is not UTF-8 at byte {error.start}: save it as UTF-8"
        raise TermFileError(message) from None
    except OSError as error:
        message = f"{path.name} cannot be read: {error.strerror}"
        raise TermFileError(message) from None
    if not terms.meanings:
        message = f"{path.name} has no term: write one a line"
        raise TermFileError(message)
    return Terminology(kind, terms.meanings)


def _rows(lines: Iterable[str], name: str) -> Iterator[_Term]:
    """Yield each line's term.

    Raises:
        TermFileError: A line is no term.
    """
    held = [line if _is_told(line) else "\n" for line in lines]
    rows = csv.reader(held, delimiter=_delimiter(held))
    while True:
        try:
            row = next(rows, None)
        except csv.Error as error:
            message = f"{name}:{rows.line_num}: {error}"
            raise TermFileError(message) from None
        if row is None:
            return
        if not row:
            continue
        phrase = row[0].strip()
        meaning = row[1].strip() if len(row) > 1 else ""
        if len(row) > _FIELDS or not 0 < len(phrase) <= _LONGEST_PHRASE:
            message = (
                f"{name}:{rows.line_num}: write a phrase, or a phrase, a comma and "
                "what it stands for"
            )
            raise TermFileError(message)
        said = meaning or phrase.lower()
        yield _Term(rows.line_num, phrase, said, not meaning)


def _delimiter(lines: list[str]) -> str:
    """Return the sign between phrases and meanings: that of the first term."""
    first = next((line for line in lines if line.strip()), "")
    return next((sign for sign in ",;\t" if sign in first), ",")


def _is_told(line: str) -> bool:
    return bool(line.strip()) and line[0] != "#"


def terms_bytes(model: TermModel) -> bytes:
    """Return a term model as bytes, the same for equal models."""
    told = {
        "format": _FORMAT,
        "name": model.name,
        "terms": {each.kind: dict(each.meanings) for each in model.terminologies},
        "forms": model.has_forms,
    }
    return json.dumps(told, ensure_ascii=False, sort_keys=True).encode()


def is_terms(content: bytes) -> bool:
    """Whether the bytes of a model are those of a term model: an object in JSON."""
    return content[:1] == b"{"


def read_terms(content: bytes) -> TermModel:
    """Return the term model of these bytes.

    Raises:
        TermFileError: They are none, or one of another version.
    """
    try:
        told = json.loads(content)
        if told["format"] != _FORMAT:
            message = f"the model has format {told['format']}, and {_FORMAT} is known"
            raise TermFileError(message)
        lists = tuple(Terminology(kind, held) for kind, held in told["terms"].items())
        return TermModel(told["name"], lists, bool(told["forms"]))
    except (KeyError, TypeError, AttributeError, json.JSONDecodeError) as error:
        message = "the file is no model: make it again, or restore it"
        raise TermFileError(message) from error
