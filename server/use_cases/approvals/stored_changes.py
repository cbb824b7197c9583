"""Changes as proposals store them: what each altered fact is of, for programs.

Earlier versions stored the words alone. Their proposals are read here, for good;
nothing else reads words back.
"""

import json
import re
from collections.abc import Callable
from typing import Any

from budget.ledger import Scope
from server.use_cases.approvals.changes import Altered, Subject


def read_altered(stored: str) -> list[Altered]:
    """Return what a stored change alters."""
    return [
        Altered(one["what"], one["old"], one["new"], _subject(one))
        for one in json.loads(stored)["altered"]
    ]


def _subject(stored: dict[str, Any]) -> Subject | None:
    if "subject" not in stored:
        return subject_in_words(stored["what"])
    told = stored["subject"]
    return None if told is None else Subject(**told)


def subject_in_words(what: str) -> Subject | None:
    """Return what an altered fact is of, by the words of earlier versions.

    >>> subject_in_words("cap of people")
    Subject(kind='limit', name='population:people', part='')
    """
    for pattern, subject in _WORDS.items():
        if found := re.fullmatch(pattern, what):
            return subject(*found.groups())
    return None


_WORDS: dict[str, Callable[..., Subject]] = {
    r"population (\w+)": lambda name: Subject("population", name),
    r"patients of (\w+) in other populations": lambda name: Subject("population", name),
    r"allotment of (.+) in (\w+)": lambda member, project: Subject(
        "limit", str(Scope.principal(project, member))
    ),
    r"allotment of (\w+)": lambda name: Subject("limit", str(Scope.project(name))),
    r"cap of (\w+)": lambda name: Subject("limit", str(Scope.population(name))),
    r"(expires|purpose|protocol) of (\w+)": lambda fact, name: Subject(
        "project_fact", name, fact
    ),
    r"active snapshot": lambda: Subject("active_snapshot", ""),
    r"public table (.+) of (\w+)": lambda table, dataset: Subject(
        "public_rows", dataset, table
    ),
    r"public release ([^:]+)": lambda name: Subject("release", name),
    r"public release ([^:]+): snapshot": lambda name: Subject("release_snapshot", name),
    r"(\w+)\.(.+)": lambda dataset, place: Subject("declaration", dataset, place),
}
