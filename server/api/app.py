"""The FastAPI application: routes, problems for everything else, health."""

import logging
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractAsyncContextManager
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from fastapi.routing import APIRoute
from pydantic import TypeAdapter
from starlette.exceptions import HTTPException

from privacy.errors import CuratorError
from server.api.admin.announcements import ANNOUNCEMENTS
from server.api.admin.anonymized import ANONYMIZED
from server.api.admin.custody import CUSTODY
from server.api.admin.jobs import JOBS
from server.api.admin.linkages import LINKAGES
from server.api.admin.oversight import OVERSIGHT
from server.api.admin.people import PEOPLE
from server.api.admin.proposals import LEDGER, PROPOSALS
from server.api.admin.releases import RELEASES
from server.api.docs_page import add_docs_routes
from server.api.forms.forms import VARIES, Form, answer_in
from server.api.front_page import add_front_page
from server.api.manual import add_manual
from server.api.questions.metadata import add_metadata_routes
from server.api.questions.routes import QueryEndpoint, problem_for
from server.api.questions.samples import add_sample_routes
from server.api.releases.asking import ReleaseQuestionBody, add_release_question_routes
from server.api.releases.routes import add_release_routes
from server.api.releases.trees import add_release_tree_routes
from server.api.routing.accepting import require_one_answer, wanted_form
from server.api.routing.access_log import AccessLog
from server.api.routing.admission import PAGED, answered, enter, page_of
from server.api.routing.edge import Edge
from server.api.routing.parts import parts_of
from server.api.schemas import questions as wire
from server.api.schemas.admin import BODIES as ADMIN_BODIES
from server.api.schemas.descriptions import describe
from server.api.schemas.examples import add_examples
from server.api.schemas.naming import name_schemas
from server.api.schemas.openapi import FORMS, INFO, complete
from server.api.schemas.openapi import problem_responses as _problems
from server.api.schemas.problems import Problem, problem_of_failure
from server.api.schemas.releases import AnnouncementBody, ReleaseBody, WithdrawBody
from server.use_cases.custody.replies import HeldDataset
from server.use_cases.datasets.replies import (
    Budget,
    DatasetDetail,
    QueryItem,
    ShownQuery,
)
from server.use_cases.identity.access import Caller
from server.use_cases.questions.plan_replies import (
    Plan,
)
from server.use_cases.questions.replies import (
    Answer,
)
from server.use_cases.questions.studies.replies import StudyAnswer, StudyPlan
from server.use_cases.services.documents import Reply, encode
from server.use_cases.services.paging import ListOf

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]
_log = logging.getLogger("curator.api")


def _body(name: str) -> dict[str, Any]:
    """Describe a body that is read by hand."""
    schema = {"$ref": f"#/components/schemas/{name}"}
    content = {"application/json": {"schema": schema}}
    return {"requestBody": {"required": True, "content": content}}


_QUESTION_BODY = _body("QuestionBody")
_STUDY_BODY = _body("StudyBody")
_KEY = {
    "parameters": [
        {
            "name": "Idempotency-Key",
            "in": "header",
            "required": False,
            "schema": {"type": "string", "minLength": 1, "maxLength": 255},
            "description": "The same key and body bring the same bytes.",
        }
    ],
}


class QuietRoute(APIRoute):
    """Turns bugs into problems here: further out, their words would be logged."""

    def get_route_handler(
        self,
    ) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Wrap the route's handler; of a bug only the type is written down."""
        handle = super().get_route_handler()

        async def quietly(request: Request) -> Response:
            try:
                return await handle(request)
            except (CuratorError, RequestValidationError, HTTPException):
                raise
            except Exception as error:  # noqa: BLE001 - a bug must not show what it met
                _log.error("internal error", extra={"error": type(error).__name__})
                return problem_of_failure(error).response()

        return quietly


def make_app(lifespan: Lifespan | None = None) -> FastAPI:
    """Build the application.

    Its server sets ``app.state.parts``, ``endpoint`` and ``manual``.
    """
    app = FastAPI(
        **INFO,
        generate_unique_id_function=lambda route: route.name,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,  # an unknown path is 404, never a redirect
        lifespan=lifespan,
    )
    app.router.route_class = QuietRoute
    app.state.manual = None
    app.add_middleware(AccessLog)
    _add_error_handlers(app)
    _add_question_routes(app)
    _add_study_routes(app)
    _add_reading_routes(app)
    JOBS.add_to(app)
    LINKAGES.add_to(app)
    ANONYMIZED.add_to(app)
    _add_health_routes(app)
    OVERSIGHT.add_to(app)
    add_sample_routes(app)
    add_metadata_routes(app)
    CUSTODY.add_to(app)
    PEOPLE.add_to(app)
    PROPOSALS.add_to(app)
    LEDGER.add_to(app)
    add_release_question_routes(app)
    add_release_tree_routes(app)
    RELEASES.add_to(app)
    ANNOUNCEMENTS.add_to(app)
    add_release_routes(app)
    add_docs_routes(app, openapi_document)
    add_front_page(app)
    add_manual(app)
    app.add_middleware(Edge)
    return app


def openapi_document() -> dict[str, object]:
    """Return the OpenAPI document; needs no installation."""
    app = make_app()
    document: dict[str, dict[str, dict[str, Any]]] = app.openapi()
    schemas = document["components"]["schemas"]
    sent: list[Any] = [wire.QuestionBody, wire.StudyBody, wire.ProblemShape]
    sent += ADMIN_BODIES
    sent += [ReleaseBody, AnnouncementBody, WithdrawBody, ReleaseQuestionBody]
    for body in sent:
        found = TypeAdapter(body).json_schema(
            ref_template="#/components/schemas/{model}"
        )
        schemas.update(found.pop("$defs", {}))
        if "$ref" not in found:
            schemas[body.__name__] = found
    describe(schemas, [*sent, *_replies(app)])
    complete(document)
    add_examples(document)
    name_schemas(document)
    return {**document}


def _replies(app: FastAPI) -> Iterator[object]:
    """Yield the types of what routes reply."""
    for route in app.routes:
        if isinstance(route, APIRoute):
            yield route.response_model
            yield from (told.get("model") for told in route.responses.values())


def _endpoint(request: Request) -> QueryEndpoint:
    endpoint: QueryEndpoint = request.app.state.endpoint
    return endpoint


def _reader(request: Request) -> Caller:
    """Return the analyst who reads; other roles are refused, on record."""
    return enter(request)


def _add_question_routes(app: FastAPI) -> None:
    refusals = _problems(400, 401, 403, 404, 408, 413, 415, 422, 500, 503)

    @app.post(
        "/v1/datasets/{dataset}/plan",
        response_model=Plan,
        responses=refusals,
        openapi_extra=_QUESTION_BODY,
        tags=["questions"],
    )
    async def plan_query(dataset: str, request: Request) -> Response:
        """Price a question: noise, half-widths, derivation. Touches no data."""
        return await _endpoint(request).plan(request, dataset)

    @app.post(
        "/v1/datasets/{dataset}/queries",
        response_model=Answer,
        responses={**refusals, **FORMS, **_problems(402, 409, 504)},
        openapi_extra={**_QUESTION_BODY, **_KEY},
        tags=["questions"],
    )
    async def create_query(dataset: str, request: Request) -> Response:
        """Ask a question: charged first, then answered with noise."""
        return await _endpoint(request).query(request, dataset)


def _add_study_routes(app: FastAPI) -> None:
    refusals = _problems(400, 401, 403, 404, 408, 413, 415, 422, 500, 503)

    @app.post(
        "/v1/datasets/{dataset}/plans",
        response_model=StudyPlan,
        responses=refusals,
        openapi_extra=_STUDY_BODY,
        tags=["questions"],
    )
    async def plan_study(dataset: str, request: Request) -> Response:
        """Price several questions at once: what to measure for all. Touches no data."""
        return await _endpoint(request).plan_study(request, dataset)

    @app.post(
        "/v1/datasets/{dataset}/studies",
        response_model=StudyAnswer,
        responses={**refusals, **_problems(402, 406, 409, 504)},
        openapi_extra={**_STUDY_BODY, **_KEY},
        tags=["questions"],
    )
    async def create_study(dataset: str, request: Request) -> Response:
        """Ask several questions for one charge; their answers add up."""
        return await _endpoint(request).study(request, dataset)


def _add_reading_routes(app: FastAPI) -> None:
    refusals = _problems(401, 403, 404, 422, 503)

    @app.get(
        "/v1/datasets",
        response_model=ListOf[HeldDataset],
        responses=refusals,
        openapi_extra=PAGED,
        tags=["reading"],
    )
    def list_datasets(request: Request) -> Response:
        """List the datasets that you may ask, newest first."""
        caller = _reader(request)
        return _json(parts_of(request).reading.datasets(caller, page_of(request)))

    @app.get(
        "/v1/datasets/{dataset}",
        response_model=DatasetDetail,
        responses=refusals,
        tags=["reading"],
    )
    def show_dataset(dataset: str, request: Request) -> Response:
        """Describe a dataset: schema, domains, limits, your budget."""
        return _json(parts_of(request).reading.dataset(_reader(request), dataset))

    @app.get(
        "/v1/queries",
        response_model=ListOf[QueryItem],
        responses=refusals,
        openapi_extra=PAGED,
        tags=["reading"],
    )
    def list_queries(request: Request) -> Response:
        """List your queries, newest first."""
        caller, page = _reader(request), page_of(request)
        return _json(
            parts_of(request).reading.queries(
                caller, limit=page.limit, cursor=page.cursor
            )
        )

    @app.get(
        "/v1/queries/{query_id}",
        response_model=ShownQuery,
        responses={**refusals, **FORMS, **_problems(409, 504)},
        tags=["reading"],
    )
    def show_query(query_id: str, request: Request) -> Response:
        """Return one of your queries, with its answer.

        As CSV or Arrow it is the answer alone: refused while it is in flight, where it
        failed, and of a study, which has several.
        """

        def read() -> Response:
            reading, caller = parts_of(request).reading, _reader(request)
            form = wanted_form(request)
            if form is Form.JSON:
                body = reading.query(caller, query_id)
                return Response(body, media_type="application/json", headers=VARIES)
            endpoint: QueryEndpoint = request.app.state.endpoint
            endpoint.check_free(caller.name)
            body = reading.stored_answer(caller, query_id)
            require_one_answer(body)
            endpoint.count_formed(caller.name, len(body))
            return answer_in(form, body)

        return answered(read)

    @app.get("/v1/budget", response_model=Budget, responses=refusals, tags=["reading"])
    def show_budget(request: Request) -> Response:
        """Return what your projects may spend and have spent."""
        return _json(parts_of(request).reading.budget(_reader(request)))


def _add_health_routes(app: FastAPI) -> None:
    @app.get("/healthz", response_model=wire.Health, tags=["health"])
    async def show_health() -> Response:
        """Say that the process lives."""
        return JSONResponse({"status": "ok"})

    @app.get(
        "/readyz",
        response_model=wire.Health,
        responses=_problems(503),
        tags=["health"],
    )
    async def show_readiness(request: Request) -> Response:
        """Say whether questions can be answered, as it was found a moment ago."""
        state = parts_of(request).ready()
        if state != "ok":
            return Problem(state, "not ready to serve").response()
        missing = parts_of(request).services.unreadable.datasets()
        more = {"unavailable_datasets": missing} if missing else {}
        return JSONResponse({"status": "ok", **more})


def _add_error_handlers(app: FastAPI) -> None:
    async def on_refusal(_: Request, error: Exception) -> Response:
        if isinstance(error, CuratorError):
            return problem_for(error).response()
        raise error

    async def on_validation(_: Request, __: Exception) -> Response:
        return Problem("invalid_request", "a parameter has the wrong form").response()

    async def on_http(_: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        code = {405: "method_not_allowed"}.get(status, "not_found")
        response = Problem(code, "no such route").response()
        response.headers.update(getattr(error, "headers", None) or {})
        return response

    async def on_bug(_: Request, error: Exception) -> Response:
        return problem_of_failure(error).response()

    app.add_exception_handler(CuratorError, on_refusal)
    app.add_exception_handler(RequestValidationError, on_validation)
    app.add_exception_handler(HTTPException, on_http)
    app.add_exception_handler(Exception, on_bug)


def _json(document: Reply) -> Response:
    return Response(encode(document), media_type="application/json")
