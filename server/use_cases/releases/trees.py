"""Branches of published trees: free, of public or granted numbers alone."""

from dataclasses import dataclass

from privacy.errors import InvalidOptionError
from privacy.schema import Scalar
from privacy.schema_json import scalar_to_json
from query_lang.binding.outside_domain import nearest_value
from release.sequences.questions.answering import (
    AskedSequences,
    number_text,
    width_text,
)
from release.sequences.questions.browsing import Child, code_among
from server.use_cases.releases.replies import CellValue, TreeBranch, TreeChild


@dataclass(frozen=True, slots=True)
class WantedBranch:
    """Which branch is asked for.

    Attributes:
        prefix: The first symbols, as JSON has them.
        split: The value of the dimension that splits the release, as JSON has it.
        has_split: Whether one is given; else all are taken together.
    """

    prefix: tuple[object, ...] = ()
    split: object = None
    has_split: bool = False


def branch_document(asked: AskedSequences, wanted: WantedBranch) -> TreeBranch:
    """Return a branch and where it leads.

    Raises:
        InvalidOptionError: A symbol, or the split's value, is not declared.
    """
    domain = asked.published.domain
    codes = [_code(v, domain.alphabet.values, "prefix") for v in wanted.prefix]
    group = None
    if wanted.has_split:
        values = () if domain.split is None else domain.split.values
        group = _code(wanted.split, values, "split")
    found = asked.branch(tuple(codes), group)
    count = found.count
    return {
        "release": asked.published.id,
        "prefix": [_json(domain.alphabet.values[code]) for code in codes],
        "count": None if count is None else number_text(count.value),
        "half_width": None if count is None else width_text(count.half_width),
        "children": [_child(child) for child in found.children],
    }


def _code(value: object, values: tuple[Scalar | None, ...], name: str) -> int:
    found = code_among(value, values)
    if found is None:
        known = [str(each) for each in values if each is not None]
        near = nearest_value(str(value), known)
        meant = "" if near is None else f"; did you mean '{near}'?"
        message = f"{name}: a value that the release does not declare{meant}"
        raise InvalidOptionError(message)
    return found


def _child(child: Child) -> TreeChild:
    return {
        "kind": child.kind,
        "symbol": _json(child.symbol),
        "count": number_text(child.count.value),
        "half_width": width_text(child.count.half_width),
        "children": child.children,
    }


def _json(value: Scalar | None) -> CellValue:
    return None if value is None else scalar_to_json(value)
