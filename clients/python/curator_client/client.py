"""The connection to a Curator server, for those who wait and for those who await."""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from curator_client.answers.answer import Answer
from curator_client.answers.history import History, PastQuery
from curator_client.connection.exchange import PATIENCE, Patience, Steps
from curator_client.connection.lines import AsyncLine, Line, Say, Terms, say_on_stderr
from curator_client.connection.settings import read_settings
from curator_client.questions import Defaults, Questions
from curator_client.releases.release import AsyncRelease, Release
from curator_client.releases.sequences import opened, opened_async

if TYPE_CHECKING:
    from types import TracebackType

    import httpx

P = ParamSpec("P")
T = TypeVar("T")
_Sync = Questions[Answer, Release]
_Async = Questions[Awaitable[Answer], AsyncRelease]


def _waiting(
    steps: Callable[Concatenate[_Sync, P], Steps[T]],
) -> Callable[Concatenate[Curator, P], T]:
    """Make a method that carries the steps out."""

    @functools.wraps(steps)
    def method(self: Curator, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._line.run(steps(self._questions, *args, **kwargs))

    return _described(method)


def _awaiting(
    steps: Callable[Concatenate[_Async, P], Steps[T]],
) -> Callable[Concatenate[AsyncCurator, P], Awaitable[T]]:
    """Make a method that carries the steps out when it is awaited."""

    @functools.wraps(steps)
    async def method(self: AsyncCurator, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._line.run(steps(self._questions, *args, **kwargs))

    return _described(method)


def _walking(
    pages: Callable[Concatenate[_Sync, P], Iterator[Steps[list[PastQuery]]]],
) -> Callable[Concatenate[Curator, P], History]:
    """Make a method that yields items, and asks for pages as they are met."""

    @functools.wraps(pages)
    def method(self: Curator, /, *args: P.args, **kwargs: P.kwargs) -> History:
        return History(lambda: self._line.walk(pages(self._questions, *args, **kwargs)))

    return _described(method)


def _walking_async(
    pages: Callable[Concatenate[_Async, P], Iterator[Steps[list[T]]]],
) -> Callable[Concatenate[AsyncCurator, P], AsyncIterator[T]]:
    """Make a method whose items are for ``async for``."""

    @functools.wraps(pages)
    def method(
        self: AsyncCurator, /, *args: P.args, **kwargs: P.kwargs
    ) -> AsyncIterator[T]:
        return self._line.walk(pages(self._questions, *args, **kwargs))

    return _described(method)


def _described(method: T) -> T:
    """Let ``help`` show what a method returns rather than the steps to it."""
    signature = inspect.signature(method)  # type: ignore[arg-type]
    returned = str(signature.return_annotation)
    for wrapping in ("Iterator[Steps[list[", "Steps["):
        if returned.startswith(wrapping):
            returned = returned[len(wrapping) : -wrapping.count("[")]
    plain = returned.replace("Plan[Asked]", "Plan").replace("Opened", "Release")
    plain = plain.replace("StudyPlan[Any]", "StudyPlan")
    method.__signature__ = signature.replace(return_annotation=plain)  # type: ignore[attr-defined]
    method.__annotations__ = {**method.__annotations__, "return": plain}
    return method


class Curator:
    """Asks one server, with one key.

    Args:
        url: The server, else ``CURATOR_URL``, else that of the configuration file.
        key: Your API key, else ``CURATOR_API_KEY``, else that of the file.
        dataset: The dataset to ask where a call names none.
        project: The project that pays where a call names none.
        ca_file: The certificates of an authority of one's own, in PEM.
        timeout_seconds: How long one try waits for its reply.
        patience: How often to try again, and how long to wait in between.
        say: Told of waits and warnings; they go to standard error otherwise.
        transport: Another httpx transport, for tests and proxies.

    Raises:
        ValueError: No address or no key is known.
        CuratorUnreachableError: The address is none.
    """

    datasets = _waiting(_Sync.datasets)
    dataset = _waiting(_Sync.dataset)
    schema = _waiting(_Sync.schema)
    domains = _waiting(_Sync.domains)
    search = _waiting(_Sync.search)
    sample = _waiting(_Sync.sample)
    metadata = _waiting(_Sync.metadata)
    plan = _waiting(_Sync.plan)
    query = _waiting(_Sync.query)
    plan_study = _waiting(_Sync.plan_study)
    study = _waiting(_Sync.study)
    past_study = _waiting(_Sync.past_study)
    answer = _waiting(_Sync.answer)
    releases = _waiting(_Sync.releases)
    announcements = _waiting(_Sync.announcements)
    release = _waiting(_Sync.release)
    budget = _waiting(_Sync.budget)
    history = _walking(_Sync.history)

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        dataset: str | None = None,
        *,
        project: str | None = None,
        ca_file: str | None = None,
        timeout_seconds: float = Terms.timeout_seconds,
        patience: Patience = PATIENCE,
        say: Say = say_on_stderr,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        found = read_settings(
            say, url=url, key=key, dataset=dataset, project=project, ca_file=ca_file
        )
        terms = Terms(found.url, found.key, timeout_seconds, found.ca_file, say)
        self._url = found.url
        self._line = Line(terms, transport)
        defaults = Defaults(found.dataset, found.project, patience, found.url)
        self._questions: _Sync = Questions(
            defaults, self._line.run, lambda steps: opened(steps, self._line)
        )

    def __repr__(self) -> str:
        """Name the server; never the key."""
        return f"Curator({self._url!r})"

    def __enter__(self) -> Curator:  # noqa: PYI034 - Self is of Python 3.11
        """Use the connection in a block."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the connection."""
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._line.close()


class AsyncCurator:
    """Asks one server, with one key; every method is awaited.

    Takes what ``Curator`` takes, and has its methods: ``await curator.query(...)``,
    ``await plan.ask()``, ``async for past in curator.history()``.
    """

    datasets = _awaiting(_Async.datasets)
    dataset = _awaiting(_Async.dataset)
    schema = _awaiting(_Async.schema)
    domains = _awaiting(_Async.domains)
    search = _awaiting(_Async.search)
    sample = _awaiting(_Async.sample)
    metadata = _awaiting(_Async.metadata)
    plan = _awaiting(_Async.plan)
    query = _awaiting(_Async.query)
    plan_study = _awaiting(_Async.plan_study)
    study = _awaiting(_Async.study)
    past_study = _awaiting(_Async.past_study)
    answer = _awaiting(_Async.answer)
    releases = _awaiting(_Async.releases)
    announcements = _awaiting(_Async.announcements)
    release = _awaiting(_Async.release)
    budget = _awaiting(_Async.budget)
    history = _walking_async(_Async.history)

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        dataset: str | None = None,
        *,
        project: str | None = None,
        ca_file: str | None = None,
        timeout_seconds: float = Terms.timeout_seconds,
        patience: Patience = PATIENCE,
        say: Say = say_on_stderr,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        found = read_settings(
            say, url=url, key=key, dataset=dataset, project=project, ca_file=ca_file
        )
        terms = Terms(found.url, found.key, timeout_seconds, found.ca_file, say)
        self._line = AsyncLine(terms, transport)
        defaults = Defaults(found.dataset, found.project, patience, found.url)
        self._questions: _Async = Questions(
            defaults, self._line.run, lambda steps: opened_async(steps, self._line)
        )

    async def __aenter__(self) -> AsyncCurator:  # noqa: PYI034 - Self is of 3.11
        """Use the connection in a block."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the connection."""
        await self.close()

    async def close(self) -> None:
        """Close the connection."""
        await self._line.close()
