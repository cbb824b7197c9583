"""Routes by what they do: list, read or change one kind of thing.

What is alike in all of them, from who comes in to what the OpenAPI document says, is
written once here; a route is a function of what was asked and of the names in its path.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from fastapi import FastAPI, Request
from pydantic import BaseModel
from starlette.responses import Response

from server.api.routing.admission import (
    CHANGING,
    MARKDOWN,
    PAGED,
    READING,
    body_of,
    change,
    page_of,
    read,
    read_text,
)
from server.api.routing.parts import Parts, parts_of
from server.api.schemas.admin import NoBody
from server.use_cases.approvals.replies import ProposalShape
from server.use_cases.identity.access import Caller
from server.use_cases.jobs.jobs import Viewer
from server.use_cases.services.documents import Reply
from server.use_cases.services.paging import ListOf, Page
from server.use_cases.services.services import Services

Route = TypeVar("Route", bound=Callable[..., Any])
Described = dict[int | str, dict[str, object]]

_PLAIN = inspect.Parameter.POSITIONAL_OR_KEYWORD
_WAITING: Described = {
    202: {
        "model": ProposalShape,
        "description": "Not done: another custodian must approve, then repeat it.",
    }
}
_WRITTEN: Described = {
    **READING,
    200: {
        "description": "Markdown.",
        "content": {MARKDOWN: {"schema": {"type": "string"}}},
    },
}


@dataclass(frozen=True, slots=True)
class Asked:
    """One request, of a caller whose role has the route.

    Attributes:
        request: As it came.
        caller: Who asks.
    """

    request: Request
    caller: Caller

    @property
    def parts(self) -> Parts:
        """What routes are made of."""
        return parts_of(self.request)

    @property
    def services(self) -> Services:
        """What use cases are made of."""
        return self.parts.services

    @property
    def viewer(self) -> Viewer:
        """The caller, and the populations that are theirs."""
        return self.parts.jobs.viewer(self.caller)

    def page(self) -> Page:
        """Read ``limit`` and ``cursor``.

        Raises:
            InvalidOptionError: One is off its form.
        """
        return page_of(self.request)


class Register(Protocol):
    """Makes a function a route, and leaves it as it is."""

    def __call__(self, work: Route, /) -> Route:
        """Register it."""
        ...


@dataclass(frozen=True, slots=True)
class Operations:
    """The routes of one kind of thing; each method registers a function as one.

    Attributes:
        tag: Under which the OpenAPI document has them.
    """

    tag: str
    _added: list[Callable[[FastAPI], None]] = field(default_factory=list)

    def add_to(self, app: FastAPI) -> None:
        """Add the routes to an application, in the order of their functions."""
        for add in self._added:
            add(app)

    def lists(self, path: str, item: object) -> Register:
        """Register a GET that replies a page of items."""
        return self._reads(
            path,
            read,
            {
                "response_model": ListOf[item],  # type: ignore[valid-type]
                "responses": READING,
                "openapi_extra": PAGED,
            },
        )

    def reads(
        self,
        path: str,
        reply: object,
        parameters: Sequence[Mapping[str, object]] = (),
    ) -> Register:
        """Register a GET that replies one thing.

        Args:
            path: Its path.
            reply: The shape of its reply.
            parameters: Of its query string, as the OpenAPI document has them; none
                other is taken.
        """
        described: dict[str, object] = {"response_model": reply, "responses": READING}
        if parameters:
            described["openapi_extra"] = {"parameters": list(parameters)}
        return self._reads(path, read, described)

    def writes(self, path: str) -> Register:
        """Register a GET that replies Markdown."""
        return self._reads(
            path, read_text, {"response_class": Response, "responses": _WRITTEN}
        )

    def changes(
        self,
        route: str,
        reply: object,
        body: type[BaseModel] = NoBody,
        *,
        status: int = 200,
        may_wait: bool = False,
    ) -> Register:
        """Register what changes something.

        The function is given what was asked, the body where one is read, and the names
        in the path.

        Args:
            route: The method and the path, as in ``"DELETE /v1/admin/keys/{key}"``.
            reply: The shape of its reply.
            body: The form of what it reads, if anything.
            status: Of its reply.
            may_wait: Whether it may need a second person first, and reply 202.
        """
        method, _, path = route.partition(" ")
        reads_body = body is not NoBody
        told: dict[str, Any] = {
            "status_code": status,
            "response_model": reply,
            "responses": {**CHANGING, **_WAITING} if may_wait else CHANGING,
            "openapi_extra": body_of(body) if reads_body else None,
        }

        def register(work: Route) -> Route:
            async def endpoint(request: Request, **names: str) -> Response:
                def decide(caller: Caller, sent: BaseModel) -> Reply:
                    given = (sent,) if reads_body else ()
                    reply: Reply = work(Asked(request, caller), *given, **names)
                    return reply

                return await change(request, body, decide, status)

            self._register(work, endpoint, (method, path), told)
            return work

        return register

    def _reads(
        self,
        path: str,
        answer: Callable[[Request, Callable[[Caller], Any]], Response],
        told: dict[str, Any],
    ) -> Register:
        def register(work: Route) -> Route:
            def endpoint(request: Request, **names: str) -> Response:
                return answer(
                    request, lambda caller: work(Asked(request, caller), **names)
                )

            self._register(work, endpoint, ("GET", path), told)
            return work

        return register

    def _register(
        self,
        work: Callable[..., Any],
        endpoint: Callable[..., Any],
        route: tuple[str, str],
        told: dict[str, Any],
    ) -> None:
        """Have FastAPI take the endpoint for the function: its words, its names."""
        method, path = route
        given = inspect.signature(work).parameters.values()
        names = [one for one in given if f"{{{one.name}}}" in path]
        request = inspect.Parameter("request", _PLAIN, annotation=Request)
        signature = inspect.Signature([*names, request])
        endpoint.__signature__ = signature  # type: ignore[attr-defined]
        endpoint.__doc__ = work.__doc__
        self._added.append(
            lambda app: app.add_api_route(
                path,
                endpoint,
                methods=[method],
                tags=[self.tag],
                name=work.__name__,
                **told,
            )
        )
