"""The two drivers: they carry out a conversation's steps over httpx.

Nothing is decided here. ``Line`` waits, ``AsyncLine`` awaits.
"""

from __future__ import annotations

import asyncio
import ssl
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from curator_client.answers.refusals import CuratorUnreachableError
from curator_client.connection.exchange import (
    Lost,
    Outcome,
    Pause,
    Reply,
    Request,
    Steps,
)
from curator_client.connection.transport import httpx

T = TypeVar("T")
Say = Callable[[str], None]
_CONNECT_SECONDS = 10.0
_REMEMBERED_SECONDS = 60.0  # after a wait, so long what was said is not said again
_MUCH = 1.5  # times the last wait that was said
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def say_on_stderr(sentence: str) -> None:
    """Say something beside the results."""
    sys.stderr.write(f"curator: {sentence}\n")


@dataclass(frozen=True)
class Terms:
    """Where to connect, as whom, and how."""

    url: str
    key: str
    timeout_seconds: float = 120.0  # for one try; a query's own deadline is 60
    ca_file: str | None = None
    say: Say = say_on_stderr

    def options(self) -> dict[str, Any]:
        """Return the arguments that both of httpx's clients take.

        Raises:
            CuratorUnreachableError: The address is none.
        """
        self._check()
        return {
            "base_url": self.url,
            "headers": {"Authorization": f"Bearer {self.key}"},
            "timeout": httpx.Timeout(self.timeout_seconds, connect=_CONNECT_SECONDS),
            "verify": self._trusted(),
        }

    def _trusted(self) -> ssl.SSLContext | bool:
        """Return whose certificates are trusted: one's own authority's, or the usual.

        Raises:
            ValueError: The file is not there, or holds none.
        """
        if self.ca_file is None:
            return True
        try:
            return ssl.create_default_context(cafile=self.ca_file)
        except OSError as error:
            message = f"ca_file {self.ca_file}: no certificates can be read ({error})"
            raise ValueError(message) from error

    def _check(self) -> None:
        try:
            url = httpx.URL(self.url)
        except httpx.InvalidURL as error:
            message = f"{self.url!r} is no address: {error}"
            raise CuratorUnreachableError(message) from error
        if url.scheme not in {"http", "https"} or not url.host:
            message = f"{self.url!r} is no address: write it whole, as https://host"
            raise CuratorUnreachableError(message)
        if url.scheme == "http" and url.host not in _LOOPBACK:
            self.say("warning: plain http: whoever listens on the way reads your key")


class Line:
    """Waits for each step."""

    def __init__(
        self, terms: Terms, transport: httpx.BaseTransport | None = None
    ) -> None:
        self._terms = terms
        self._waits = _Waits(terms.say)
        self._http = httpx.Client(**terms.options(), transport=transport)

    def run(self, steps: Steps[T]) -> T:
        """Carry out the steps, and return what they come to."""
        outcome: Outcome = None
        while True:
            try:
                step = steps.send(outcome)
            except StopIteration as done:
                result: T = done.value
                return result
            outcome = self._take(step)

    def walk(self, pages: Iterator[Steps[list[T]]]) -> Iterator[T]:
        """Yield the items of the pages, each asked for when it is reached."""
        for page in pages:
            yield from self.run(page)

    def _take(self, step: Request | Pause) -> Outcome:
        if isinstance(step, Pause):
            self._waits.announce(step)
            time.sleep(step.seconds)
            return None
        try:
            return _reply(self._http.send(_built(self._http, step)))
        except httpx.TransportError as error:
            return lost(error, self._terms.url)

    def close(self) -> None:
        """Close the connection."""
        self._http.close()


class AsyncLine:
    """Awaits each step."""

    def __init__(
        self, terms: Terms, transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        self._terms = terms
        self._waits = _Waits(terms.say)
        self._http = httpx.AsyncClient(**terms.options(), transport=transport)

    async def run(self, steps: Steps[T]) -> T:
        """Carry out the steps, and return what they come to."""
        outcome: Outcome = None
        while True:
            try:
                step = steps.send(outcome)
            except StopIteration as done:
                result: T = done.value
                return result
            outcome = await self._take(step)

    async def walk(self, pages: Iterator[Steps[list[T]]]) -> AsyncIterator[T]:
        """Yield the items of the pages, each asked for when it is reached."""
        for page in pages:
            for item in await self.run(page):
                yield item

    async def _take(self, step: Request | Pause) -> Outcome:
        if isinstance(step, Pause):
            self._waits.announce(step)
            await asyncio.sleep(step.seconds)
            return None
        try:
            return _reply(await self._http.send(_built(self._http, step)))
        except httpx.TransportError as error:
            return lost(error, self._terms.url)

    async def close(self) -> None:
        """Close the connection."""
        await self._http.aclose()


class _Waits:
    """Says why it is waited: once, not at each of a hundred questions in a row."""

    def __init__(self, say: Say) -> None:
        self._say = say
        self._last = Pause(0.0)
        self._said_until = 0.0  # a monotonic time: later, it is forgotten

    def announce(self, pause: Pause) -> None:
        """Say it where the reason, or the wait by half, is another than the last."""
        if pause.why is None:
            return
        began = time.monotonic()
        if began > self._said_until or not self._is_like_last(pause):
            self._say(f"{pause.why}: trying again in {pause.seconds:g} s")
            self._last = pause
        self._said_until = began + pause.seconds + _REMEMBERED_SECONDS

    def _is_like_last(self, pause: Pause) -> bool:
        last = self._last
        return (
            pause.why == last.why
            and last.seconds / _MUCH <= pause.seconds <= last.seconds * _MUCH
        )


def _built(http: httpx.Client | httpx.AsyncClient, request: Request) -> httpx.Request:
    return http.build_request(
        request.method,
        request.path,
        content=request.content,
        headers=dict(request.headers),
    )


def _reply(response: httpx.Response) -> Reply:
    headers = {name.lower(): value for name, value in response.headers.items()}
    return Reply(response.status_code, headers, response.content)


def lost(error: httpx.TransportError, url: str) -> Lost:
    """Say in words why no reply came, and whether another try is of use."""
    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
        return _unconnected(error, url)
    if isinstance(error, httpx.TimeoutException):
        return Lost(f"no reply in time from {url}")
    return Lost(f"no reply from {url}: the connection was cut ({error})")


def _unconnected(error: httpx.TransportError, url: str) -> Lost:
    causes = " ".join(_causes(error))
    reason, final = "nothing answers there; does the server run?", False
    if "CERTIFICATE_VERIFY_FAILED" in causes:
        reason = "its certificate is not trusted; ca_file can name your own authority"
        final = True
    elif "SSL" in causes:
        reason, final = "TLS failed; does it speak plain http on that port?", True
    elif "gaierror" in causes:
        reason = "there is no such host"
    return Lost(f"no reply from {url}: {reason} ({error})", final=final, unsent=True)


def _causes(error: BaseException) -> Iterator[str]:
    """Yield the kinds and words of an error and of what caused it."""
    current: BaseException | None = error
    while current is not None:
        yield f"{type(current).__name__}: {current}"
        current = current.__cause__ or current.__context__
