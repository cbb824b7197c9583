"""What an analyst asks: the body of plan and queries, checked key by key."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Final, Literal

from privacy.contributions import ContributionBounds
from privacy.errors import InvalidLossError, InvalidOptionError
from privacy.losses import NANO, Loss
from privacy.measures import PURE, Measure, MeasureName
from server.use_cases.losses.shares import share_of
from server.use_cases.services.documents import PLAIN_CONFIDENCE
from server.use_cases.services.strict_json import JsonValue

Preference = Literal["release", "paid"]
"""What may answer in the place of fresh noise: a release, or what the project paid."""

_LARGEST_POWER = 30  # nothing that fits a grid or a domain has more digits
_LOSSES = ("epsilon", "rho")
_KEYS = {"sql", *_LOSSES, "accuracy", "project", "options"}
_OPTIONS = {"reuse", "weights", "prefer", "bounds", "confirm"}
_ACCURACY = {
    "within", "rows", "relative", "at_least", "cells", "confidence", "at_most",
}  # fmt: skip
_MOST_ROWS = 10**9
_BOUNDS = {"tables", "max_rows_per_unit", "max_groups_per_unit"}


@dataclass(frozen=True, slots=True)
class Accuracy:
    """A wish: how far noise may move the cells of every aggregate, or every average.

    Attributes:
        within: That far, in the column's unit, whatever the number is.
        confidence: Of each cell by itself; where ``cells`` is given, of all at once.
        relative: So large a part of the number itself, where that is more.
        cells: The share of the cells that is to be moved no further.
        at_most: The most that may be charged for it.
        rows: It is of averages, in cells of so many values that are not NULL or more.
    """

    within: Fraction
    confidence: Fraction
    relative: Fraction | None = None
    cells: Fraction | None = None
    at_most: str | int | Decimal | None = None  # a loss, still unread
    rows: int | None = None


@dataclass(frozen=True, slots=True)
class QuestionRequest:
    """A well-formed body. Losses are still unread: they are checked last."""

    sql: str
    epsilon: str | int | Decimal | None
    accuracy: Accuracy | None
    project: str | None
    reuse: Literal["allow", "never"]
    weights: tuple[tuple[str, Fraction], ...]
    bounds: ContributionBounds
    prefer: Preference | None = None
    rho: str | int | Decimal | None = None
    confirm: bool = False

    def loss(self, measure: Measure = PURE) -> Loss | None:
        """Return the loss asked for; None where an accuracy is asked for instead.

        Raises:
            InvalidLossError: Off the grammar or off the grid of 1e-9, or not what the
                population counts.
        """
        wanted, other = self.epsilon, self.rho
        if not measure.is_pure:
            wanted, other = other, wanted
        if other is not None:
            raise InvalidLossError(text=str(other), reason=_NOT_COUNTED[measure.name])
        return None if wanted is None else loss_of(wanted)


_NOT_COUNTED: Mapping[MeasureName, str] = {
    "pure": "this population counts epsilon: give epsilon instead of rho",
    "zcdp": "this population counts rho (zCDP): give rho instead of epsilon; noise of "
    "the standard deviation that an epsilon has in one count (1.4 divided by epsilon) "
    "costs rho = epsilon * epsilon / 4",
}
"""Why a loss of the other measure is refused, and what to give."""


def with_loss(request: QuestionRequest, loss: Loss, word: str) -> QuestionRequest:
    """Return a request for so much loss, in the place of an accuracy."""
    losses = {"epsilon": None, "rho": None, word: str(loss)}
    return replace(request, accuracy=None, epsilon=losses["epsilon"], rho=losses["rho"])


def loss_of(value: str | int | Decimal) -> Loss:
    """Read a loss from a JSON string or number.

    Raises:
        InvalidLossError: Off the grammar or off the grid of 1e-9.
    """
    return Loss.parse(value) if isinstance(value, str) else _loss_of_number(value)


def _loss_of_number(number: int | Decimal) -> Loss:
    """Read a loss from a JSON number by the exact value of its text."""
    value = _fraction(number)
    nano = None if value is None else value * NANO
    if nano is None or nano < 0 or nano.denominator != 1 or nano >= NANO * 10**6:
        raise InvalidLossError(text=str(number), reason="not on the grid of 1e-9")
    return Loss(int(nano))


def _fraction(number: int | Decimal) -> Fraction | None:
    """Return the exact value, or None where its exponent is beyond all meaning."""
    exact = Decimal(number)
    if exact and abs(exact.adjusted()) > _LARGEST_POWER:
        return None
    return Fraction(exact)


def read_request(body: JsonValue) -> QuestionRequest:
    """Check the form of a body: its keys and their types.

    Raises:
        InvalidOptionError: A key is unknown, missing, or of another type.
    """
    fields = _object(body, "the body", _KEYS)
    options = _object(fields.get("options", {}), "options", _OPTIONS)
    given = [name for name in (*_LOSSES, "accuracy") if name in fields]
    if len(given) != 1:
        message = (
            "give exactly one of epsilon and accuracy (of a population that counts "
            "rho: of rho and accuracy)"
        )
        raise InvalidOptionError(message)
    return QuestionRequest(
        sql=_text(fields.get("sql"), "sql"),
        epsilon=_loss(fields, "epsilon"),
        rho=_loss(fields, "rho"),
        accuracy=_accuracy(fields["accuracy"]) if "accuracy" in fields else None,
        project=_text(fields["project"], "project") if "project" in fields else None,
        reuse=_reuse(options.get("reuse", "allow")),
        weights=_weights(options.get("weights", {})),
        bounds=_bounds(options.get("bounds", {})),
        prefer=_prefer(options),
        confirm=_confirm(options.get("confirm", False)),
    )


def _object(value: JsonValue, name: str, keys: set[str]) -> Mapping[str, JsonValue]:
    if not isinstance(value, dict):
        message = f"{name} must be an object"
        raise InvalidOptionError(message)
    unknown = sorted(set(value) - keys)
    if unknown:
        key = unknown[0]
        within = f"; {key} stands in options" if key in _OPTIONS - keys else ""
        message = f"{name}: unknown key {key!r}; known are {sorted(keys)}{within}"
        raise InvalidOptionError(message)
    return value


def _text(value: JsonValue, name: str) -> str:
    if not isinstance(value, str):
        message = f"{name} must be a string"
        raise InvalidOptionError(message)
    return value


def _loss(fields: Mapping[str, JsonValue], name: str) -> str | int | Decimal | None:
    """Return a loss as it was given, unread; None where it was not."""
    if name not in fields:
        return None
    value = fields[name]
    if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
        message = f'{name} must be a decimal string such as "0.1", or a number'
        raise InvalidOptionError(message)
    return value


def _accuracy(value: JsonValue) -> Accuracy:
    fields = _object(value, "accuracy", _ACCURACY)
    relative = _relative(fields)
    name = "within" if relative is None else "at_least"
    within = _number(fields.get(name), f"accuracy.{name}")
    confidence = _confidence(fields.get("confidence", Decimal("0.95")))
    if within <= 0:
        message = f"accuracy.{name} must be positive"
        raise InvalidOptionError(message)
    if not 0 < confidence < 1:
        message = "accuracy.confidence is a probability: 0.95, not 95"
        raise InvalidOptionError(message)
    cells = _percent(fields["cells"], "cells") if "cells" in fields else None
    at_most = _loss(fields, "at_most")
    rows = _rows(fields)
    return Accuracy(within, confidence, relative, cells, at_most, rows)


def _rows(fields: Mapping[str, JsonValue]) -> int | None:
    """Return how many values a cell of averages has at least; None: not of averages."""
    if "rows" not in fields:
        return None
    if "relative" in fields:
        message = (
            "accuracy.rows goes with within, of averages: "
            '{"within": 0.5, "rows": 100}; relative is of counts and sums'
        )
        raise InvalidOptionError(message)
    rows = fields["rows"]
    if isinstance(rows, bool) or not isinstance(rows, int):
        message = "accuracy.rows is a whole number of values, such as 100"
        raise InvalidOptionError(message)
    if not 0 < rows <= _MOST_ROWS:
        message = f"accuracy.rows is a number of values from 1 to {_MOST_ROWS}"
        raise InvalidOptionError(message)
    return rows


def _confidence(value: JsonValue) -> Fraction:
    """Return what a text such as "0.95" says, as replies write it, or a number."""
    if isinstance(value, str) and PLAIN_CONFIDENCE.fullmatch(value):
        return Fraction(value)
    return _number(value, "accuracy.confidence")


def _relative(fields: Mapping[str, JsonValue]) -> Fraction | None:
    """Return the part of a number that its noise may be; checks what goes with it."""
    if "relative" not in fields:
        if "at_least" in fields:
            message = "accuracy.at_least goes with relative; without, give within"
            raise InvalidOptionError(message)
        return None
    if "within" in fields:
        message = (
            'give accuracy as {"within": 20} or {"relative": "5%", "at_least": 10}, '
            "not both"
        )
        raise InvalidOptionError(message)
    if "at_least" not in fields:
        message = (
            "accuracy.at_least is missing: how far a small number may be off, as in "
            '{"relative": "5%", "at_least": 10}'
        )
        raise InvalidOptionError(message)
    return _percent(fields["relative"], "relative")


def _percent(value: JsonValue, name: str) -> Fraction:
    """Read a share such as "5%"; above 0, at most 100."""
    share = share_of(value)
    if share is None:
        message = f'accuracy.{name} is a share such as "5%", at most "100%"'
        meant = _meant_share(value)
        message += f': write "{meant}"' if meant else ""
        raise InvalidOptionError(message)
    return share


def _meant_share(value: JsonValue) -> str | None:
    """Return a number as the share that was meant: 5, "5" or "0.05" as "5%"."""
    text = str(value)
    if isinstance(value, bool) or not _SHORT_NUMBER.fullmatch(text):
        return None
    number = Decimal(text)
    share = f"{(number * 100 if number < 1 else number).normalize():f}%"
    return None if share_of(share) is None else share


_SHORT_NUMBER: Final = re.compile(r"[0-9]{1,3}(\.[0-9]{1,9})?", re.ASCII)


def _number(value: JsonValue, name: str) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        message = f"{name} must be a number"
        raise InvalidOptionError(message)
    exact = _fraction(value)
    if exact is None:
        message = f"{name} is beyond what can be answered"
        raise InvalidOptionError(message)
    return exact


def _reuse(value: JsonValue) -> Literal["allow", "never"]:
    if value == "never":
        return "never"
    if value != "allow":
        message = 'options.reuse must be "allow" or "never"'
        raise InvalidOptionError(message)
    return "allow"


def _confirm(value: JsonValue) -> bool:
    if not isinstance(value, bool):
        message = "options.confirm must be true or false"
        raise InvalidOptionError(message)
    return value


def _prefer(options: Mapping[str, JsonValue]) -> Preference | None:
    if "prefer" not in options:
        return None
    if options["prefer"] == "release":
        return "release"
    if options["prefer"] != "paid":
        message = 'options.prefer must be "release" or "paid"'
        raise InvalidOptionError(message)
    return "paid"


def _weights(value: JsonValue) -> tuple[tuple[str, Fraction], ...]:
    if not isinstance(value, dict):
        message = "options.weights must be an object of column names and numbers"
        raise InvalidOptionError(message)
    weights = {
        name: _number(weight, f"weight of {name!r}") for name, weight in value.items()
    }
    if any(weight <= 0 for weight in weights.values()):
        message = "options.weights must be positive"
        raise InvalidOptionError(message)
    return tuple(sorted(weights.items()))


def _bounds(value: JsonValue) -> ContributionBounds:
    fields = _object(value, "options.bounds", _BOUNDS)
    tables = fields.get("tables", {})
    if not isinstance(tables, dict):
        message = "options.bounds.tables must be an object of table names and integers"
        raise InvalidOptionError(message)
    return ContributionBounds(
        tables=tuple(sorted((name, _bound(k, name)) for name, k in tables.items())),
        max_rows_per_unit=_optional_bound(fields, "max_rows_per_unit"),
        max_groups_per_unit=_optional_bound(fields, "max_groups_per_unit"),
    )


def _optional_bound(fields: Mapping[str, JsonValue], name: str) -> int | None:
    return _bound(fields[name], name) if name in fields else None


def _bound(value: JsonValue, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < 2**31:
        message = f"the bound of {name!r} must be a positive integer"
        raise InvalidOptionError(message)
    return value
