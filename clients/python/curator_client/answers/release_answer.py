"""Answers that published releases give: free, with an interval a cell."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from curator_client.answers.answer import USUAL_CONFIDENCE, Answer, percent


@dataclass(frozen=True, repr=False)
class ReleaseAnswer(Answer):
    """Estimates from a release, one a declared group, each with its 95 % interval.

    It reads and exports as an ``Answer`` does; nothing was paid for it. Counts may be
    negative: they are as the release measured them, and ``clamped()`` is a view.

    >>> answer = ReleaseAnswer({
    ...     "release": "rel_1", "snapshot": "s_1", "price": "0", "derivation": "",
    ...     "warnings": [], "rows": [["F", 12]],
    ...     "columns": [
    ...         {"name": "sex", "kind": "group", "type": "text", "unit": None},
    ...         {"name": "n", "kind": "measure", "type": "integer", "unit": "rows"},
    ...     ],
    ...     "intervals": [
    ...         {"column": "n", "confidence": "0.95", "rows": [["9", "15"]]}
    ...     ],
    ...     "half_widths": [{"column": "n", "confidence": "0.95", "rows": ["3"]}],
    ... })
    >>> print(answer)
      sex             n
      F    12 (9 to 15)
      (free, from the release rel_1)

    Attributes:
        published: The release's name and what was paid for it, once; empty where the
            answer was made from a document alone.
    """

    published: dict[str, Any] = field(default_factory=dict, compare=False)

    @property
    def query_id(self) -> str:
        """Answers of releases are not kept: the same question has the same answer."""
        return ""

    @property
    def release(self) -> str:
        """The id of the release that answered."""
        return str(self.document["release"])

    @property
    def undecided(self) -> dict[str, list[str]]:
        """How many more sequences may match, a text a row; cubes have none.

        The release does not say how these go on. They are not counted, and the
        intervals end higher by them.
        """
        told = self.document.get("undecided", [])
        return {str(each["column"]): list(each["rows"]) for each in told}

    @property
    def noise(self) -> list[dict[str, Any]]:
        """Nothing was drawn for it: ``row_half_widths`` say how sure a number is."""
        return []

    @property
    def charge(self) -> dict[str, Any]:
        """Nothing."""
        return {"epsilon": "0", "delta": "0", "reused": True}

    @property
    def remaining(self) -> dict[str, str | None]:
        """No budget was looked at."""
        return {}

    def _source(self) -> dict[str, Any]:
        """Return the release: it is asked again, and answers the same."""
        return {"release": {"id": self.release, **self.published}}

    def _footer(self) -> str:
        clamped = "; negative counts made 0" if self.is_clamped else ""
        holds = ""
        if self.confidence != USUAL_CONFIDENCE:
            holds = f"; each interval holds {percent(self.confidence)} %"
        return f"(free, from the release {self.release}{holds}{clamped})"
