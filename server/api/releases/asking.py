"""POST /v1/releases/{release}/queries: questions to what is published, for nothing.

What is published is the same for every reader, so a reply leaves when it is ready;
slots hide how long raw rows were read, and none are read here.
"""

from decimal import Decimal
from typing import Final

from fastapi import FastAPI, Request
from pydantic import BaseModel, ConfigDict, Field, field_validator
from starlette.responses import Response

from server.api.routing.admission import CHANGING, ask, body_of
from server.api.routing.parts import parts_of
from server.api.schemas.openapi import FORMS
from server.use_cases.identity.access import Caller
from server.use_cases.releases.replies import ReleaseAnswer
from server.use_cases.services.documents import PLAIN_CONFIDENCE, ConfidenceText

LEAST: Final = Decimal("0.5")
MOST: Final = Decimal("0.999999")


class ReleaseQuestionBody(BaseModel):
    """A question to a release: SQL over its name, and a confidence."""

    model_config = ConfigDict(extra="forbid")

    sql: str = Field(
        examples=["SELECT sex, COUNT(*) AS n FROM admissions GROUP BY sex"]
    )
    """One SELECT over the release's name (docs/querying-releases.md)."""
    confidence: ConfidenceText = Field(default="0.95", examples=["0.95"])
    """With which each interval, by itself, holds the exact value: from 0.5 to
    0.999999."""

    @field_validator("confidence", mode="before")
    @classmethod
    def _in_range(cls, given: object) -> object:
        """Return a text, or the text of a number, of which each digit counts."""
        is_text = isinstance(given, str) and PLAIN_CONFIDENCE.fullmatch(given)
        is_number = type(given) is int or isinstance(given, Decimal)
        if not (is_text or is_number) or not LEAST <= Decimal(str(given)) <= MOST:
            message = f"a number from {LEAST} to {MOST}"
            raise ValueError(message)
        return str(given)


def add_release_question_routes(app: FastAPI) -> None:
    """Add the route by which releases are asked."""

    @app.post(
        "/v1/releases/{release}/queries",
        response_model=ReleaseAnswer,
        responses={**CHANGING, **FORMS},
        openapi_extra=body_of(ReleaseQuestionBody),
        tags=["releases"],
    )
    async def ask_release(release: str, request: Request) -> Response:
        """Ask a published release; it costs nothing and needs no project."""
        queries = parts_of(request).release_queries
        parts_of(request).services.catalogue.see_one_state()

        def work(caller: Caller, asked: ReleaseQuestionBody) -> bytes:
            confidence = f"{Decimal(asked.confidence).normalize():f}"
            return queries.ask(caller, release, asked.sql, confidence)

        return await ask(request, ReleaseQuestionBody, work)
