"""What each member of a body or reply means: the text that stands under it.

Such a text is no part of a class when it runs, so sources are read, once, when the
OpenAPI document is made. pydantic can do so too, but for each class by itself: it
parses a module as often as it has models, and knows no members that a typed dictionary
inherits.
"""

import ast
import inspect
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, get_args, get_origin

from pydantic import BaseModel
from typing_extensions import get_original_bases, is_typeddict


def describe(schemas: dict[str, dict[str, Any]], bodies: Iterable[object]) -> None:
    """Add the descriptions of their members to the schemas of a document.

    Args:
        schemas: By the names that pydantic gives them.
        bodies: Types of bodies and replies; those of their members are found, where
            their modules know them.
    """
    found: dict[str, type] = {}
    for body in bodies:
        _find(body, found)
    texts = {name: texts_of(model) for name, model in found.items()}
    for name, schema in schemas.items():
        schema["description"] = schema["description"].replace("``", "`")
        said = texts.get(name.partition("_")[0], {})  # ListOf_JobItem_ is a ListOf
        for member, shape in schema.get("properties", {}).items():
            if member in said:
                shape["description"] = said[member]


def texts_of(model: type) -> dict[str, str]:
    """Return the texts under the members of a model, and of what it inherits from."""
    texts: dict[str, str] = {}
    for base in reversed(get_original_bases(model)):
        origin = get_origin(base) or base
        if _is_model(origin):
            texts |= texts_of(origin)
    return texts | _texts_of_module(model.__module__).get(model.__name__, {})


def _is_model(kind: object) -> bool:
    is_shape = isinstance(kind, type) and issubclass(kind, BaseModel)
    return is_typeddict(kind) or (is_shape and kind is not BaseModel)


def _find(kind: object, found: dict[str, type]) -> None:
    """Collect the models that a type names, and those that their modules know."""
    for inner in get_args(kind):
        _find(inner, found)
    origin = get_origin(kind) or kind
    if isinstance(origin, type) and _is_model(origin) and origin.__name__ not in found:
        found[origin.__name__] = origin
        for known in vars(sys.modules[origin.__module__]).values():
            _find(known, found)


@cache
def _texts_of_module(name: str) -> dict[str, dict[str, str]]:
    tree = ast.parse(inspect.getsource(sys.modules[name]))
    return {
        node.name: dict(_texts_of_class(node))
        for node in tree.body
        if isinstance(node, ast.ClassDef)
    }


def _texts_of_class(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for member, below in zip(node.body, node.body[1:], strict=False):
        text = below.value if isinstance(below, ast.Expr) else None
        if isinstance(member, ast.AnnAssign) and isinstance(text, ast.Constant):
            yield ast.unparse(member.target), " ".join(str(text.value).split())
