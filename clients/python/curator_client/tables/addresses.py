"""Addresses in a server's documents, made whole: other tools know no server."""

from __future__ import annotations

from typing import Any
from urllib.parse import urljoin

_MEMBERS = frozenset({"url", "contentUrl"})


def with_addresses(document: Any, server: str, path: str) -> Any:
    """Return JSON whose relative addresses are those of a document on a server.

    >>> with_addresses({"url": "s.csv?table=a"}, "https://c.org/dp", "/v1/d/m")
    {'url': 'https://c.org/dp/v1/d/s.csv?table=a'}
    """
    if isinstance(document, list):
        return [with_addresses(item, server, path) for item in document]
    if not isinstance(document, dict):
        return document
    return {
        name: f"{server.rstrip('/')}{urljoin(path, value)}"
        if name in _MEMBERS and isinstance(value, str)
        else with_addresses(value, server, path)
        for name, value in document.items()
    }
