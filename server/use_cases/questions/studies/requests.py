"""Several questions in one body, checked key by key."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Literal

from privacy.errors import InvalidLossError, InvalidOptionError
from privacy.losses import Loss
from privacy.measures import Measure
from server.use_cases.questions.requests import (
    QuestionRequest,
    loss_of,
    read_request,
)
from server.use_cases.services.strict_json import JsonValue

MOST_QUESTIONS: Final = 24
"""Of one study: so many texts are compiled, and pairs of them compared."""

_LOSSES = ("epsilon", "rho")
_KEYS = {"questions", "project", "options", *_LOSSES}
_OPTIONS = {"confirm", "reuse"}
_OF_A_QUESTION = {"sql", "epsilon", "rho", "accuracy", "options"}
_OPTIONS_OF_A_QUESTION = {"weights", "bounds"}


@dataclass(frozen=True, slots=True)
class StudyRequest:
    """A well-formed body.

    Attributes:
        questions: Each with an accuracy or a loss; both are None where the total is
            divided evenly.
        project: That asks.
        total: What all of it is to spend, by its word; None: as little as keeps to all
            wishes.
        reuse: Whether stored answers may be given.
        confirm: Whether so dear a study is meant.
    """

    questions: tuple[QuestionRequest, ...]
    project: str | None
    total: tuple[str, str | int | Decimal] | None
    reuse: Literal["allow", "never"]
    confirm: bool

    def total_loss(self, measure: Measure) -> Loss | None:
        """Return the total, in what the population counts.

        Raises:
            InvalidLossError: Off the grid of 1e-9, or of another measure.
        """
        if self.total is None:
            return None
        word, value = self.total
        if word != measure.word:
            reason = f"this population counts {measure.word}: give that"
            raise InvalidLossError(text=str(value), reason=reason)
        return loss_of(value)


def read_study(body: JsonValue) -> StudyRequest:
    """Check the form of a body: its keys and their types.

    Raises:
        InvalidOptionError: A key is unknown, missing, or of another type.
    """
    fields = _object(body, "the body", _KEYS)
    options = _object(fields.get("options", {}), "options", _OPTIONS)
    given = [name for name in _LOSSES if name in fields]
    if len(given) > 1:
        message = "give one total: epsilon, or rho where the population counts that"
        raise InvalidOptionError(message)
    common = {name: fields[name] for name in ("project",) if name in fields}
    questions = tuple(
        _question(value, f"questions[{n}]", common, has_total=bool(given))
        for n, value in enumerate(_listed(fields.get("questions")))
    )
    whole = _whole(options)
    return StudyRequest(
        questions=questions,
        project=questions[0].project,
        total=(given[0], _amount(fields[given[0]], given[0])) if given else None,
        reuse=whole.reuse,
        confirm=whole.confirm,
    )


def _object(value: JsonValue, name: str, keys: set[str]) -> Mapping[str, JsonValue]:
    if not isinstance(value, dict):
        message = f"{name} must be an object"
        raise InvalidOptionError(message)
    unknown = sorted(set(value) - keys)
    if unknown:
        message = f"{name}: unknown key {unknown[0]!r}; known are {sorted(keys)}"
        raise InvalidOptionError(message)
    return value


def _listed(value: JsonValue) -> list[JsonValue]:
    if not isinstance(value, list) or not 0 < len(value) <= MOST_QUESTIONS:
        message = f"questions must be a list of one or more, at most {MOST_QUESTIONS}"
        raise InvalidOptionError(message)
    return value


def _question(
    value: JsonValue, name: str, common: Mapping[str, JsonValue], *, has_total: bool
) -> QuestionRequest:
    fields = _object(value, name, _OF_A_QUESTION)
    _object(fields.get("options", {}), f"{name}.options", _OPTIONS_OF_A_QUESTION)
    body: dict[str, JsonValue] = {**fields, **common}
    wished = any(key in fields for key in (*_LOSSES, "accuracy"))
    if wished or not has_total:
        return _read(body, name)
    read = _read({**body, "epsilon": 1}, name)
    return QuestionRequest(
        sql=read.sql,
        epsilon=None,
        accuracy=None,
        project=read.project,
        reuse=read.reuse,
        weights=read.weights,
        bounds=read.bounds,
    )


def _read(body: JsonValue, name: str) -> QuestionRequest:
    try:
        return read_request(body)
    except InvalidOptionError as error:
        message = f"{name}: {error}"
        raise InvalidOptionError(message) from None


def _whole(options: Mapping[str, JsonValue]) -> QuestionRequest:
    """Read the options of a study as a question's are read."""
    return read_request({"sql": "", "epsilon": 1, "options": dict(options)})


def _amount(value: JsonValue, name: str) -> str | int | Decimal:
    if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
        message = f'{name} must be a decimal string such as "0.1", or a number'
        raise InvalidOptionError(message)
    return value
