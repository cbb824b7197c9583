"""Which form a request wants, from its ``Accept`` (RFC 9110, 12.5.1)."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from starlette.requests import Request

from server.api.forms.forms import Form
from server.api.schemas.problems import Problem

_RANGE: Final = re.compile(r"([!#$%&'*+.^_`|~0-9a-z-]+)/([!#$%&'*+.^_`|~0-9a-z-]+)")
_WEIGHT: Final = re.compile(r"0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?")
_ANY: Final = "*"
SEVERAL_ARE_JSON: Final = "the answers to several questions are JSON alone"


@dataclass(frozen=True, slots=True)
class _Wish:
    """A media range and its weight.

    Attributes:
        kind: What stands before the slash.
        subtype: What stands after it.
        weight: From 0, not wanted, to 1.
    """

    kind: str
    subtype: str
    weight: float

    @property
    def precision(self) -> int:
        """2 of one type, 1 of all of a kind, 0 of whatever there is."""
        return (self.kind != _ANY) + (self.subtype != _ANY)

    def covers(self, form: Form) -> bool:
        """Whether a form is one of the range's."""
        kind, _, subtype = form.value.partition("/")
        return self.kind in {kind, _ANY} and self.subtype in {subtype, _ANY}


def wanted_form(request: Request) -> Form:
    """Return the form that is wanted most; JSON where none is named.

    Raises:
        Problem: None of those that there are is accepted.
    """
    named = request.headers.getlist("accept")
    return preferred(", ".join(named)) if named else Form.JSON


def preferred(accept: str) -> Form:
    """Return the form that a header wants most.

    Of equal weights the one that is named more precisely is taken, then JSON before CSV
    before Arrow. What is no media range is passed over, as are parameters.

    Raises:
        Problem: None of those that there are is accepted.

    >>> preferred("text/csv, */*;q=0.1")
    <Form.CSV: 'text/csv'>
    """
    wishes = _wishes(accept)
    if not wishes and not accept.strip(" \t,"):
        return Form.JSON
    weighed = [(_weight(form, wishes), form) for form in Form]
    (weight, _), best = max(weighed, key=lambda one: one[0])
    if not weight:
        kinds = ", ".join(form.value for form in Form)
        message = f"answers come as {kinds}: name one of these in Accept, or send none"
        raise Problem("not_acceptable", message)
    return best


def _weight(form: Form, wishes: Sequence[_Wish]) -> tuple[float, int]:
    """Return the weight of the most precise range that covers a form."""
    covering = [wish for wish in wishes if wish.covers(form)]
    if not covering:
        return 0.0, 0
    best = max(covering, key=lambda wish: (wish.precision, wish.weight))
    return best.weight, best.precision


def _wishes(accept: str) -> list[_Wish]:
    found = (_wish(part) for part in accept.lower().split(","))
    return [wish for wish in found if wish is not None]


def _wish(part: str) -> _Wish | None:
    written, *parameters = (text.strip(" \t") for text in part.split(";"))
    match = _RANGE.fullmatch(written)
    if match is None or (match[1] == _ANY and match[2] != _ANY):
        return None
    weights = [text[2:] for text in parameters if text.startswith("q=")]
    if not weights:
        return _Wish(match[1], match[2], 1.0)
    if _WEIGHT.fullmatch(weights[0]) is None:
        return None
    return _Wish(match[1], match[2], float(weights[0]))


def require_one_answer(body: bytes) -> None:
    """Refuse another form than JSON of a study: it holds several answers.

    Raises:
        Problem: The bytes are a study's.
    """
    if "answers" in json.loads(body):
        raise Problem("not_acceptable", SEVERAL_ARE_JSON)
