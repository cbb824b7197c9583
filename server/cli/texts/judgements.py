"""How a model did, as tables."""

from typing import cast

from server.cli.terminal.output import say, show, show_list
from server.use_cases.services.documents import Document

_FIGURES = ("precision", "recall", "f1")
_OF_ALL = {
    "strict": "spans, with their types",
    "overlapping": "spans that overlap, with their types",
    "untyped": "spans, whatever their types",
    "tokens": "tokens, with their types",
    "characters": "characters, whatever their types",
}


def print_judgements(made: Document) -> None:
    """Print what ``text.evaluate`` found of each model, by kind and by type."""
    for judged in cast("list[dict[str, Document]]", made["models"]):
        show(
            {
                "model": judged["name"],
                "documents": judged["documents"],
                "wholly clean": judged["documents_clean"],
                "characters leaked": judged["characters_leaked"],
            },
            as_json=False,
        )
        counted = [
            {"of": said, **{name: judged[kind][name] for name in _FIGURES}}
            for kind, said in _OF_ALL.items()
        ]
        show_list(counted, as_json=False)
        show_list(by_type(judged["types"]), as_json=False)
        say_missing(judged)
        if judged["knows_gold"]:
            say_known(str(judged["name"]))
    left_out = cast("list[str]", made["types_left_out"])
    if left_out:
        say(f"note: not looked for, and so not judged: {', '.join(left_out)}")


def by_type(types: Document) -> list[Document]:
    """Return a row for each type: spans that are exactly right, and those missed."""
    rows: list[Document] = []
    for kind, told in cast("dict[str, dict[str, Document]]", types).items():
        strict, overlapping = told["strict"], told["overlapping"]
        counts = cast("dict[str, int]", strict)
        rows.append(
            {
                "type": kind,
                "spans": counts["right"] + counts["missed"],
                **{name: strict[name] for name in _FIGURES},
                "wholly missed": overlapping["missed"],
            }
        )
    return rows


def say_missing(judged: dict[str, Document]) -> None:
    """Say which of the gold standard's types a model does not know by name."""
    missing = cast("list[str]", judged["types_not_found"])
    if missing:
        name, listed = judged["name"], ", ".join(missing)
        say(f"note: {name} finds no {listed}: types are compared by their names")


def say_known(name: str) -> None:
    """Say that a model was judged on what it learned."""
    say(f"note: {name} learned from this gold standard: judge on another")
