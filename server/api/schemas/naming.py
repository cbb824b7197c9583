"""How the OpenAPI document names the schemas of bodies and replies.

Generated clients call their types so, and so do people: names stay as they are, also
where a class of ours is renamed.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

_PREFIX: Final = "#/components/schemas/"
_NAMES: Final = {
    "ActShape": "LinkageAct",
    "AdminRelease": "HeldRelease",
    "AdminReleaseItem": "HeldReleaseItem",
    "ActsShape": "LinkageActs",
    "DisabledShape": "PrincipalState",
    "ExpectedShape": "ExpectedError",
    "Line": "LedgerLine",
    "MadeProjectShape": "CreatedProject",
    "MadeShape": "CreatedPrincipal",
    "OtherShape": "OtherCopy",
    "PartShape": "LossShare",
    "Range": "LossRange",
    "RecordShape": "LinkedRecord",
    "StepShape": "FieldComparison",
    "TogetherShape": "CopiesTogether",
    "VerificationShape": "LedgerVerification",
    "VerifiedShape": "VerifiedRelease",
    "WarningShape": "AnswerWarning",
}
_PLAIN: Final = ("default", "enum", "const", "example", "examples")
"""Members of a schema that hold values."""


def name_schemas(document: dict[str, Any]) -> None:
    """Give each schema of a document its name and, in words, its title; others none."""
    schemas = document["components"]["schemas"]
    names = {name: shown_name(name) for name in schemas}
    if len(set(names.values())) < len(names):
        message = f"two schemas have one name: {sorted(names.values())}"
        raise ValueError(message)
    named = {names[name]: _plain(schema) for name, schema in schemas.items()}
    for name, schema in named.items():
        schema["title"] = words_of(name)
    document["components"]["schemas"] = dict(sorted(named.items()))
    document["paths"] = _plain(document["paths"])
    _refer(document, {_PREFIX + old: _PREFIX + new for old, new in names.items()})


def shown_name(name: str) -> str:
    """Return the name of a schema, of that of its class.

    >>> [shown_name(each) for each in ("ProblemShape", "ListOf_JobItem_", "LossText")]
    ['Problem', 'JobList', 'Loss']
    """
    of_list = re.fullmatch(r"ListOf_(\w+?)(?:Item)?_", name)
    if of_list is not None:
        return f"{shown_name(of_list[1])}List"
    return _NAMES.get(name, re.sub(r"(Shape|Text)$", "", name))


def words_of(name: str) -> str:
    """Return a name in words.

    >>> words_of("ReleaseQuestionBody")
    'Release question body'
    """
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).capitalize()


def _plain(schema: Any, *, named: bool = False) -> Any:  # noqa: ANN401 - any JSON
    """Return a schema without titles, its unions of objects exclusive.

    Args:
        schema: Or what one is made of.
        named: Whether its members have names of their own, as ``properties`` have.
    """
    if isinstance(schema, list):
        return [_plain(each) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    plain = {
        name: each if name in _PLAIN else _plain(each, named=name == "properties")
        for name, each in schema.items()
        if named or name != "title"
    }
    kinds = plain.get("anyOf", [])
    if kinds and all("$ref" in kind for kind in kinds):
        plain["oneOf"] = plain.pop("anyOf")
    if "prefixItems" in plain:  # many tools know no array without items
        plain["items"] = {"anyOf": plain["prefixItems"]}
    return plain


def _refer(part: Any, names: Mapping[str, str]) -> None:  # noqa: ANN401 - any JSON
    """Write every reference by the new names."""
    inside = part.items() if isinstance(part, dict) else enumerate(part)
    for place, each in list(inside):
        if isinstance(each, str) and each in names:
            part[place] = names[each]
        elif isinstance(each, dict | list):
            _refer(each, names)
