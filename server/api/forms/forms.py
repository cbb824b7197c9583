"""The forms in which an answer can be read, and the reply in each.

The JSON that is stored is the answer (PRIVACY 6); every other form is a function of
its bytes alone, so a form tells nothing that the JSON does not. Making one takes time
that grows with those bytes: ``server.api.routing.backlog`` counts it.
"""

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Final
from urllib.parse import quote

from starlette.responses import Response

from server.api.forms.arrow_stream import arrow_of
from server.api.forms.csv_text import csv_of
from server.api.forms.facts import Facts, facts_of
from server.api.forms.tables import Series, table_of

_log = logging.getLogger("curator.api")


class Form(Enum):
    """A form by its media type, as ``Accept`` names it; the preferred one first."""

    JSON = "application/json"
    CSV = "text/csv"
    ARROW = "application/vnd.apache.arrow.stream"


_Writer = Callable[[Sequence[Series], Facts], bytes]
_WRITERS: Final[Mapping[Form, _Writer]] = {
    Form.CSV: lambda table, _: csv_of(table),
    Form.ARROW: arrow_of,
}
_SAID: Final = {Form.CSV: "text/csv; charset=utf-8; header=present"}
VARIES: Final = {"Vary": "Accept"}


def answer_in(
    form: Form, body: bytes, headers: Mapping[str, str] | None = None
) -> Response:
    """Return the reply that brings an answer.

    An answer that is paid for is never lost to a fault of a form: it comes as JSON
    then, as its Content-Type says.

    Args:
        form: That is wanted.
        body: The answer, in JSON.
        headers: More of the reply.
    """
    headers = {**VARIES, **(headers or {})}
    if form is not Form.JSON:
        try:
            written, told = _written(form, body)
        except Exception as error:  # noqa: BLE001 - whatever it is, the answer is paid
            facts = {"form": form.value, "error": type(error).__name__}
            _log.error("an answer was not written in a form", extra=facts)
        else:
            media_type = _SAID.get(form, form.value)
            return Response(written, media_type=media_type, headers=headers | told)
    return Response(body, media_type=Form.JSON.value, headers=headers)


def _written(form: Form, body: bytes) -> tuple[bytes, dict[str, str]]:
    answer = json.loads(body)
    facts = facts_of(answer)
    return _WRITERS[form](table_of(answer), facts), headers_of(facts)


def headers_of(facts: Facts) -> dict[str, str]:
    """Return the headers that say of which answer rows are, and where all of it is."""
    told = {
        "Curator-Snapshot": str(facts["snapshot"]),
        "Curator-Epsilon": str(facts["epsilon"]),
        "Curator-Confidence": str(facts["confidence"]),
    }
    if "rho" in facts:
        told["Curator-Rho"] = str(facts["rho"])
    warnings = facts["warnings"]
    if isinstance(warnings, list) and warnings:
        told["Curator-Warnings"] = ", ".join(str(one["code"]) for one in warnings)
    if "query_id" in facts:
        told["Curator-Query-Id"] = str(facts["query_id"])
        whole = f"/v1/queries/{quote(str(facts['query_id']))}"
    else:
        told["Curator-Release"] = str(facts["release"])
        whole = f"/v1/releases/{quote(str(facts['release']))}"
    return {**told, "Link": f'<{whole}>; rel="describedby"; type="application/json"'}
