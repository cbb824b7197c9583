"""Sentences for the shape errors that pydantic finds: what to do, not what broke."""

import difflib
from collections.abc import Mapping

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from upstream.manifests import declarations, file_specs
from upstream.manifests.yaml_nodes import Place

MOST_TOLD = 1_000  # problems of one manifest
_NEAR, _VERY_NEAR = 0.6, 0.85  # how like another key is one that may be meant

Found = list[tuple[Place, str]]

_EMPTY = {
    "expression": (
        "is empty: write how the column is computed, such as discharged - admitted"
    )
}
"""What to write in a text that is there and empty; else it is a source."""

_UNION_TAGS = frozenset({"bool", "int", "str"})
_IDENTIFIER = "start with a small letter, then small letters, digits or _, 63 at most"
_MODELS: Mapping[str, type[BaseModel]] = {
    "population": declarations.PopulationSpec,
    "epsilon_per_query": declarations.LossRange,
    "rho_per_query": declarations.LossRange,
    "hierarchies": declarations.HierarchySpec,
    "display": declarations.DisplaySpec,
    "tables": declarations.TableSpec,
    "csv": file_specs.CsvSpec,
    "excel": file_specs.ExcelSpec,
    "json": file_specs.JsonSpec,
    "database": file_specs.DatabaseSpec,
    "keep": declarations.KeepSpec,
    "fan_out": declarations.FanOutSpec,
    "columns": declarations.ColumnSpec,
    "domain": declarations.DomainSpec,
}

_PLACES: Mapping[str, type[BaseModel]] = {
    "at the top of the manifest": declarations.Declarations,
    "under population": declarations.PopulationSpec,
    "in a table, beside its name": declarations.TableSpec,
    "under csv": file_specs.CsvSpec,
    "under excel": file_specs.ExcelSpec,
    "under json": file_specs.JsonSpec,
    "under database": file_specs.DatabaseSpec,
    "in a column": declarations.ColumnSpec,
    "in a column's domain": declarations.DomainSpec,
    "in a hierarchy": declarations.HierarchySpec,
    "under display": declarations.DisplaySpec,
}
"""Where the keys of each model belong, in words."""


def sentences_of(error: ValidationError) -> Found:
    """Return one sentence for every place that pydantic refused."""
    found: dict[Place, str] = {}
    for detail in error.errors(include_url=False)[:MOST_TOLD]:
        place = tuple(
            part
            for i, part in enumerate(detail["loc"])
            if not (i and i == len(detail["loc"]) - 1 and part in _UNION_TAGS)
        )
        found.setdefault(place, _sentence(place, detail))
    above = {place[:length] for place in found for length in range(len(place))}
    # a list is called too short where its entries were refused: that is an echo
    return [(at, said) for at, said in found.items() if at not in above]


def _sentence(place: Place, detail: ErrorDetails) -> str:
    name = str(place[-1]) if place else "manifest"
    kind = detail["type"]
    if kind == "extra_forbidden":
        return _unknown_key(place)
    if kind == "missing":
        return f"{name} is missing: add it"
    if detail["loc"] != place:
        return f"{name} must be one value: a number, a text, true or false"
    return f"{name}: {_remedy(kind, detail, name)}"


def _remedy(kind: str, detail: ErrorDetails, name: str) -> str:
    context = detail.get("ctx", {})
    own = {
        "string_pattern_mismatch": _IDENTIFIER,
        "string_too_short": _EMPTY.get(name, "say where this public fact comes from"),
        "literal_error": f"write {context.get('expected')}",
    }
    return own.get(kind) or remedy(detail)


def remedy(detail: ErrorDetails) -> str:
    """Return what to do about a shape that pydantic refused; of any file of ours."""
    context = detail.get("ctx", {})
    remedies = {
        "missing": "is missing: add it",
        "bool_type": "write true or false, in small letters, without quotes",
        "int_type": "write a whole number, without quotes",
        "string_type": "write a text (in quotes where it looks like a number)",
        "list_type": "write a list: [a, b] or one entry a line after a dash",
        "tuple_type": "write a list: [a, b] or one entry a line after a dash",
        "dict_type": "write key: value pairs",
        "model_type": "write key: value pairs, indented below it",
        "model_attributes_type": "write key: value pairs, indented below it",
        "too_short": "name at least one",
        "enum": f"write one of {context.get('expected')}",
        "literal_error": f"write one of {context.get('expected')}",
        "union_tag_invalid": f"write one of {context.get('expected_tags')}",
        "union_tag_not_found": f"{context.get('discriminator')} is missing: add it",
        "greater_than_equal": f"write {context.get('ge')} or more",
        "less_than_equal": f"write {context.get('le')} or less",
        "value_error": str(context.get("error")),
    }
    return remedies.get(detail["type"], detail["msg"])


def _unknown_key(place: Place) -> str:
    key, keys = str(place[-1]), _keys_at(place)
    elsewhere = [where for where, model in _PLACES.items() if key in _keys_of(model)]
    near = difflib.get_close_matches(
        key, keys, n=1, cutoff=_VERY_NEAR if elsewhere else _NEAR
    )
    if near:
        hint = f"did you mean {near[0]}?"
    elif elsewhere:
        hint = f"it belongs {' or '.join(elsewhere)}, not here"
    else:
        hint = f"the keys here are {_list(keys)}"
    return f"unknown key {key!r}: {hint}"


def _keys_at(place: Place) -> list[str]:
    around = [part for part in place[:-1] if isinstance(part, str)]
    model = _MODELS[around[-1]] if around else declarations.Declarations
    return _keys_of(model)


def _keys_of(model: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


def _list(keys: list[str]) -> str:
    return ", ".join(keys)
