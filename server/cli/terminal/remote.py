"""Commands that go over HTTP with one's own key, through the client's connection."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote, urlencode

import typer

from server.cli.terminal.output import (
    REFUSED,
    UNREACHABLE,
    USAGE,
    install_client,
    print_json,
    say,
)
from server.use_cases.services.documents import Document, encode

if TYPE_CHECKING:
    from curator_client.connection.exchange import Request

_PAGE = "200"

Http = Annotated[
    bool,
    typer.Option(
        "--http",
        help="Ask the server of CURATOR_URL with the custodian's key CURATOR_API_KEY, "
        "not the files of this host.",
    ),
]


class Remote:
    """The server at CURATOR_URL, asked with the key CURATOR_API_KEY.

    Every method leaves with exit code 1 where the server refuses, 2 where address or
    key are missing, 3 where nothing answers. A change is sent once: whether one that
    was cut off was made, ``show`` tells.
    """

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json

    def get(self, *parts: str) -> Document:
        """Return a document."""
        return self._sent("GET", _path(parts))

    def post(self, *parts: str, body: Mapping[str, object] | None = None) -> Document:
        """Send a change; return what it came to."""
        return self._sent("POST", _path(parts), body)

    def listed(self, *parts: str) -> list[Document]:
        """Return all items of a list, page by page."""
        items: list[Document] = []
        told = {"limit": _PAGE}
        while True:
            page = self._sent("GET", f"{_path(parts)}?{urlencode(told)}")
            found = page["items"]
            items += found if isinstance(found, list) else []
            if page["next_cursor"] is None:
                return items
            told["cursor"] = str(page["next_cursor"])

    def _sent(
        self, method: str, path: str, body: Mapping[str, object] | None = None
    ) -> Document:
        try:
            from curator_client.answers.refusals import (  # noqa: PLC0415
                CuratorRefusalError,
                CuratorUnreachableError,
            )
            from curator_client.connection.exchange import Request  # noqa: PLC0415 - its own package
        except ImportError:
            say(f"this command goes through the client: {install_client()}")
            raise typer.Exit(USAGE) from None
        content = None if body is None else encode(body)
        try:
            return _carried_out(Request(method, path, content))
        except CuratorUnreachableError as error:
            say(str(error))
            raise typer.Exit(UNREACHABLE) from None
        except CuratorRefusalError as refusal:
            if self._as_json:
                print_json(refusal.problem)
            say(f"refused: {refusal}")
            raise typer.Exit(REFUSED) from None
        except ValueError as error:
            say(str(error))
            raise typer.Exit(USAGE) from None


def _carried_out(request: "Request") -> Document:
    """Send a request once and read its document."""
    from curator_client.connection.exchange import (  # noqa: PLC0415 - its own package
        Patience,
        document_of,
        exchange,
    )
    from curator_client.connection.lines import Line, Terms  # noqa: PLC0415
    from curator_client.connection.settings import read_settings  # noqa: PLC0415

    found = read_settings(say)
    line = Line(Terms(found.url, found.key, ca_file=found.ca_file, say=say))
    try:
        reply = line.run(exchange(request, Patience(tries=1)))
    finally:
        line.close()
    return document_of(reply, request, None)


def _path(parts: tuple[str, ...]) -> str:
    return "/v1/admin/" + "/".join(quote(part, safe="") for part in parts)
