"""What can be asked of a server, as steps: written once for both clients.

Each public method of ``Questions`` is a method of ``Curator`` and of ``AsyncCurator``.
It returns the steps of a conversation (``curator_client.connection.exchange``); the
drivers in ``curator_client.connection.lines`` carry them out.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import Any, Generic, TypeVar, cast
from urllib.parse import quote, urlencode

from curator_client.answers.answer import Answer
from curator_client.answers.budget import Budget
from curator_client.answers.history import PastQuery
from curator_client.answers.losses import loss_of, word_of
from curator_client.answers.plan import Plan
from curator_client.answers.probes import (
    costs_more,
    less,
    probe_of_plan,
    probe_of_refusal,
)
from curator_client.answers.refusals import (
    CuratorError,
    CuratorRefusalError,
    NotFoundError,
)
from curator_client.answers.schema import Dataset, Domains, unknown
from curator_client.answers.study import Study, StudyPlan
from curator_client.connection.exchange import (
    PATIENCE,
    Patience,
    Reply,
    Request,
    Steps,
    document_of,
    exchange,
)
from curator_client.releases.sequence_steps import steps_of
from curator_client.releases.steps import ReleaseSteps
from curator_client.tables.addresses import with_addresses
from curator_client.tables.listing import Listing
from curator_client.wishes import (
    Accuracy,
    Epsilon,
    Options,
    StudyOptions,
    StudyQuestion,
)

Asked = TypeVar("Asked")
Opened = TypeVar("Opened")
_PAGE = 100
_MOST_RELEASES = 200
_MOST_PROBES = 12


@dataclass(frozen=True)
class Defaults:
    """What a call means that does not say it."""

    dataset: str | None = None
    project: str | None = None
    patience: Patience = PATIENCE
    url: str = ""


class Questions(Generic[Asked, Opened]):
    """One analyst's conversation with one server.

    Args:
        defaults: The dataset and project of calls that name none; retries.
        carry_out: Turns the steps to an answer into what ``plan(...).ask()`` returns.
        open_release: Makes of a release's steps what ``release(...)`` returns.
    """

    def __init__(
        self,
        defaults: Defaults,
        carry_out: Callable[[Steps[Answer]], Asked],
        open_release: Callable[[ReleaseSteps], Opened],
    ) -> None:
        self._defaults = defaults
        self._carry_out = carry_out
        self._open_release = open_release
        self._only_dataset = defaults.dataset
        self._described: dict[str, Dataset] = {}
        self._last_price: str | None = None
        self._has_answered = False

    def datasets(self) -> Steps[Listing]:
        """List the datasets that you may ask: name, population, active snapshot."""
        items = (yield from self._get("/v1/datasets"))["items"]
        return Listing.of_dicts(items, columns=("name", "population", "snapshot"))

    def dataset(self, name: str | None = None) -> Steps[Dataset]:
        """Describe a dataset: tables, columns, types, public domains, row bounds.

        Args:
            name: May be left out where you have but one.

        Raises:
            NotFoundError: Unknown, or not yours.
        """
        known = yield from self._name(name)
        found = yield from self._advised(self._get(_path(known)), known, None)
        described = Dataset(found)
        self._described[known] = described
        return described

    def schema(
        self, table: str | None = None, *, dataset: str | None = None
    ) -> Steps[Listing]:
        """List the columns of a table, or of all: type, NULLs, public domain.

        Args:
            table: One table; all of them where it is left out.
            dataset: May be left out where you have but one.

        Raises:
            LookupError: There is no such table.
        """
        described = yield from self._description(dataset)
        return described.columns(table)

    def domains(self, column: str, *, dataset: str | None = None) -> Steps[Domains]:
        """Return the public domains of a column: what GROUP BY and SUM may meet.

        Args:
            column: ``"ward"``, in whatever tables, or ``"visits.ward"`` in one.
            dataset: May be left out where you have but one.

        Raises:
            LookupError: There is no such column.
        """
        described = yield from self._description(dataset)
        return described.domains(column)

    def search(self, text: str, *, dataset: str | None = None) -> Steps[Listing]:
        """Find a word in tables, columns, domain values and hierarchies.

        A server shows a hierarchy's name, its levels and how many codes it lists, and
        the blocks only where they are few; a code itself is not found here.

        Args:
            text: Any part of the word, in any case.
            dataset: May be left out where you have but one.
        """
        described = yield from self._description(dataset)
        return described.search(text)

    def sample(
        self, table: str | None = None, rows: int = 10, *, dataset: str | None = None
    ) -> Steps[Listing]:
        """Return made-up rows of a table: they look like its rows, and are nobody's.

        They come from the schema alone. Costs nothing.

        Args:
            table: Its name; the dataset's first table where it is left out.
            rows: How many.
            dataset: May be left out where you have but one.

        Raises:
            NotFoundError: There is no such table or dataset, or it is not yours.
            CuratorRefusalError: The server does not make up so many.
        """
        name = yield from self._name(dataset)
        named = {} if table is None else {"table": table}
        query = urlencode({**named, "rows": rows})
        try:
            made = yield from self._get(f"{_path(name, 'sample')}?{query}")
        except NotFoundError as refusal:
            described = yield from self._description(name)
            known = [str(one["name"]) for one in described.tables]
            if table is not None and table not in known:
                refusal.advised(unknown("table", table, known))
            raise
        return Listing(
            columns=[_column_name(column) for column in made["columns"]],
            rows=made["rows"],
            note="made up from the public schema: these rows are nobody's",
        )

    def metadata(
        self, form: str = "csvw", *, dataset: str | None = None
    ) -> Steps[dict[str, Any]]:
        """Return a dataset's public schema for catalogues and other tools.

        It holds what the dataset's page shows, and nothing else; the files that it
        names are made-up rows. Costs nothing.

        Args:
            form: ``"csvw"`` (W3C tabular metadata) or ``"croissant"`` (MLCommons).
            dataset: May be left out where you have but one.

        Raises:
            NotFoundError: The dataset is unknown, or not yours.
            CuratorRefusalError: The server does not know the format.
        """
        name = yield from self._name(dataset)
        path = f"{_path(name, 'metadata')}?{urlencode({'format': form})}"
        found = yield from self._advised(self._get(path), name, None)
        whole: dict[str, Any] = with_addresses(found, self._defaults.url, path)
        return whole

    def plan(
        self,
        sql: str,
        *,
        dataset: str | None = None,
        epsilon: Epsilon | None = None,
        accuracy: Accuracy | None = None,
        rho: Epsilon | None = None,
        project: str | None = None,
        options: Options | None = None,
    ) -> Steps[Plan[Asked]]:
        """Price a question; costs nothing and touches no data.

        ``plan(...).ask()`` then asks exactly it.

        Args:
            sql: The question.
            dataset: Which dataset; may be left out where you have but one.
            epsilon: What to spend; or
            accuracy: For the least epsilon: ``{"within": 20, "confidence": 0.95}``,
                or 20 alone; of averages ``{"within": 0.5, "rows": 100}``, in groups of
                so many values; or ``{"relative": "5%", "at_least": 10}``; with
                ``"cells": "90%"`` of so many cells at once, with ``"at_most": "0.5"``
                refused where it costs more.
            rho: What to spend where the population counts rho instead of epsilon.
            project: Which project pays, where several could.
            options: ``bounds``, ``weights``, ``reuse``, ``prefer``: see ``Options``.

        Raises:
            CuratorRefusalError: The question is refused; the message shows where.
        """
        name = yield from self._name(dataset)
        project = project or self._defaults.project
        body = _body(sql, _price(epsilon, accuracy, rho), project, options)
        asked = self._post(_path(name, "plan"), body)
        document = yield from self._advised(asked, name, project)
        self._last_price = loss_of(document)
        same = _body(sql, {word_of(document): self._last_price}, project, options)
        key = uuid.uuid4().hex
        return Plan(document, lambda: self._carry_out(self._ask(name, same, key)))

    def query(
        self,
        sql: str,
        *,
        dataset: str | None = None,
        epsilon: Epsilon | None = None,
        accuracy: Accuracy | None = None,
        rho: Epsilon | None = None,
        project: str | None = None,
        options: Options | None = None,
        idempotency_key: str | None = None,
        probes: bool = False,
    ) -> Steps[Answer]:
        """Ask a question and pay for it, once: retries reuse one idempotency key.

        Takes what ``plan`` takes, and ``idempotency_key``: that of an earlier try which
        was cut off (``CuratorUnreachableError`` has it), else a fresh one is made. With
        ``probes`` the probes that plans of a relative accuracy name are bought first,
        as long as they name one: how large the numbers are is known then, and what was
        paid for a probe counts, so that it mostly costs less in all. None is bought
        where ``at_most`` could not be kept to even if they were as large as may be;
        ``at_most`` is of the accuracy and its probes together.

        Raises:
            CuratorRefusalError: The question is refused; nothing was spent, but for
                probes, unless the code is ``query_failed``.
            CuratorUnreachableError: No reply came.
        """
        name = yield from self._name(dataset)
        project = project or self._defaults.project
        body = _body(sql, _price(epsilon, accuracy, rho), project, options)
        if probes and "accuracy" in body:
            body = yield from self._probe(name, body)
        return (yield from self._ask(name, body, idempotency_key or uuid.uuid4().hex))

    def plan_study(
        self,
        questions: Sequence[str | StudyQuestion],
        *,
        dataset: str | None = None,
        accuracy: Accuracy | None = None,
        epsilon: Epsilon | None = None,
        rho: Epsilon | None = None,
        project: str | None = None,
        options: StudyOptions | None = None,
    ) -> Steps[StudyPlan[Any]]:
        """Price several questions at once; costs nothing and touches no data.

        ``plan_study(...).ask()`` then asks exactly them, for one charge.

        Args:
            questions: Texts, or ``{"sql": ..., "accuracy": 20}``: see
                ``StudyQuestion``.
            dataset: Which dataset; may be left out where you have but one.
            accuracy: Of questions that say none of their own.
            epsilon: A total to spend: all half-widths grow or shrink alike. Left out,
                it is the least that keeps to all accuracies.
            rho: Likewise, where the population counts rho.
            project: Which project pays, where several could.
            options: ``reuse``, ``confirm``: see ``StudyOptions``.

        Raises:
            CuratorRefusalError: A question is refused; the message says which.
        """
        name = yield from self._name(dataset)
        project = project or self._defaults.project
        body = _study_body(questions, accuracy, {"epsilon": epsilon, "rho": rho})
        body |= {"project": project} if project else {}
        body |= {"options": options} if options else {}
        asked = self._post(_path(name, "plans"), body)
        document = yield from self._advised(asked, name, project)
        key = uuid.uuid4().hex
        asking = self._carry_out
        return StudyPlan(
            document, lambda: asking(cast("Any", self._ask_study(name, body, key)))
        )

    def study(
        self,
        questions: Sequence[str | StudyQuestion],
        *,
        dataset: str | None = None,
        accuracy: Accuracy | None = None,
        epsilon: Epsilon | None = None,
        rho: Epsilon | None = None,
        project: str | None = None,
        options: StudyOptions | None = None,
        idempotency_key: str | None = None,
    ) -> Steps[Study]:
        """Ask several questions for one charge, never dearer than one by one.

        Takes what ``plan_study`` takes, and ``idempotency_key`` as ``query`` does.

        Raises:
            CuratorRefusalError: A question is refused; nothing was spent unless the
                code is ``query_failed``.
            CuratorUnreachableError: No reply came.
        """
        name = yield from self._name(dataset)
        project = project or self._defaults.project
        body = _study_body(questions, accuracy, {"epsilon": epsilon, "rho": rho})
        body |= {"project": project} if project else {}
        body |= {"options": options} if options else {}
        key = idempotency_key or uuid.uuid4().hex
        return (yield from self._ask_study(name, body, key))

    def past_study(self, query_id: str) -> Steps[Study]:
        """Return one of your past studies again, for nothing.

        Raises:
            LookupError: It is still in flight, or failed, or is no study.
        """
        stored = yield from self._get(f"/v1/queries/{quote(query_id, safe='')}")
        if stored.get("study") is None:
            message = f"query {query_id} is {stored.get('state')}: it is no study"
            raise LookupError(message)
        hide_below = yield from self._hide_below(stored["dataset"])
        return Study(stored["study"], hide_below=hide_below)

    def answer(self, query_id: str) -> Steps[Answer]:
        """Return one of your past answers again, for nothing.

        Raises:
            LookupError: It is still in flight, or failed.
        """
        stored = yield from self._get(f"/v1/queries/{quote(query_id, safe='')}")
        if stored.get("answer") is None:
            message = f"query {query_id} is {stored.get('state')}: it has no answer"
            raise LookupError(message)
        hide_below = yield from self._hide_below(stored["dataset"])
        return Answer(stored["answer"], hide_below=hide_below)

    def releases(self) -> Steps[Listing]:
        """List the releases that you may read, newest first; they are asked for free.

        The newest 200 are listed.
        """
        page = yield from self._get(f"/v1/releases?limit={_MOST_RELEASES}")
        titles = ("id", "name", "dataset", "snapshot", "counts", "strategy", "epsilon")
        return Listing.of_dicts(page["items"], columns=titles)

    def announcements(self) -> Steps[Listing]:
        """List the releases that are planned for you, newest announcement first.

        They cannot be asked yet; ``by`` is the day by which each is to be there. The
        newest 200 are listed.
        """
        page = yield from self._get(f"/v1/announcements?limit={_MOST_RELEASES}")
        titles = ("name", "dataset", "by", "counts", "strategy", "epsilon")
        return Listing.of_dicts(page["items"], columns=titles)

    def release(self, release_id: str) -> Steps[Opened]:
        """Return a published release, to ask, download and draw it for nothing.

        Args:
            release_id: Its id, as ``releases()`` lists it; or its name.

        Raises:
            NotFoundError: There is none, or it is not yours to read.
        """
        listed = list((yield from self.releases()))
        names = {str(one["name"]): str(one["id"]) for one in reversed(listed)}
        is_id = release_id in names.values()  # of whatever form ids are
        wanted = release_id if is_id else names.get(release_id, release_id)
        path = f"/v1/releases/{quote(wanted, safe='')}"
        try:
            document = yield from self._get(path)
        except NotFoundError as refusal:
            refusal.advised(unknown("release", release_id, list(names)))
            raise
        return self._open_release(steps_of(document, self._defaults.patience))

    def budget(self, epsilon: Epsilon | None = None) -> Steps[Budget]:
        """Return what your projects may spend, and how many more questions fit.

        Args:
            epsilon: The price of such a question, or its rho; else the last one that
                this client planned or paid.
        """
        document = yield from self._get("/v1/budget")
        price = self._last_price if epsilon is None else loss_text(epsilon)
        return Budget(document, price)

    def history(self, limit: int | None = None) -> Iterator[Steps[list[PastQuery]]]:
        """Yield your past queries, newest first; pages are asked for as they are met.

        Args:
            limit: At most so many; all of them where it is left out.
        """
        cursor: list[str | None] = [None]
        left = limit
        while left is None or left > 0:
            size = _PAGE if left is None else min(left, _PAGE)
            yield self._page(size, cursor)
            left = None if left is None else left - size
            if cursor[0] is None:
                return

    def _page(self, size: int, cursor: list[str | None]) -> Steps[list[PastQuery]]:
        """Read the page at the cursor, and move the cursor on."""
        wanted = {"limit": str(size)}
        if cursor[0] is not None:
            wanted["cursor"] = cursor[0]
        page = yield from self._get(f"/v1/queries?{urlencode(wanted)}")
        cursor[0] = page["next_cursor"]
        return [PastQuery(item) for item in page["items"]]

    def _probe(self, dataset: str, body: dict[str, Any]) -> Steps[dict[str, Any]]:
        """Ask the probes that plans of an accuracy name, as long as they name one.

        Returns the body that asks for the accuracy, with what ``at_most`` leaves of it.
        """
        for _ in range(_MOST_PROBES):
            most = body["accuracy"].get("at_most")
            try:
                told = yield from self._post(_path(dataset, "plan"), body)
            except CuratorRefusalError as refusal:
                told = refusal.problem
                probe = probe_of_refusal(told)
            else:
                probe = probe_of_plan(told, most)
            if probe is None or costs_more(told, most):
                break
            asked = {k: v for k, v in body.items() if k != "accuracy"}
            known = yield from self._ask(dataset, {**asked, **probe}, uuid.uuid4().hex)
            body = {**body, "accuracy": less(body["accuracy"], loss_of(known.charge))}
        return body

    def _ask(self, dataset: str, body: dict[str, Any], key: str) -> Steps[Answer]:
        asked = self._post(_path(dataset, "queries"), body, key)
        document = yield from self._advised(asked, dataset, body.get("project"))
        if not document["charge"]["reused"]:
            self._last_price = loss_of(document["charge"])
        hide_below = yield from self._hide_below(dataset)
        return Answer(document, hide_below=hide_below)

    def _ask_study(self, dataset: str, body: dict[str, Any], key: str) -> Steps[Study]:
        asked = self._post(_path(dataset, "studies"), body, key)
        document = yield from self._advised(asked, dataset, body.get("project"))
        hide_below = yield from self._hide_below(dataset)
        return Study(document, hide_below=hide_below)

    def _name(self, dataset: str | None) -> Steps[str]:
        """Return the dataset that is meant: named, by default, or the only one."""
        if dataset is not None:
            return dataset
        if self._only_dataset is None:
            items = (yield from self._get("/v1/datasets"))["items"]
            names = [str(item["name"]) for item in items]
            if len(names) != 1:
                message = f"name a dataset; you may ask: {', '.join(names) or 'none'}"
                raise ValueError(message)
            self._only_dataset = names[0]
        return self._only_dataset

    def _description(self, dataset: str | None) -> Steps[Dataset]:
        """Return a dataset's page, asked for once."""
        name = yield from self._name(dataset)
        if name not in self._described:
            return (yield from self.dataset(name))
        return self._described[name]

    def _hide_below(self, dataset: str) -> Steps[int | None]:
        """Return the dataset's display rule; None where it has none.

        It only marks what is shown, so an answer never fails for want of it.
        """
        try:
            return (yield from self._description(dataset)).hide_below
        except CuratorError:
            return None

    def _advised(
        self, steps: Steps[dict[str, Any]], dataset: str, project: str | None
    ) -> Steps[dict[str, Any]]:
        """Say which datasets and projects are yours where one was not found.

        The server does not tell what is absent from what is not yours, nor which of
        the two names it did not find; what is yours it lists.
        """
        try:
            return (yield from steps)
        except NotFoundError as refusal:
            listed = (yield from self._get("/v1/datasets"))["items"]
            names = [str(item["name"]) for item in listed]
            if dataset not in names:
                refusal.advised(unknown("dataset", dataset, names))
            elif project is not None:
                spent = yield from self._get("/v1/budget")
                names = [str(one["project"]) for one in spent["projects"]]
                if project not in names:
                    refusal.advised(unknown("project", project, names))
            raise

    def _get(self, path: str) -> Steps[dict[str, Any]]:
        request = Request("GET", path)
        reply = yield from self._exchanged(request)
        return document_of(reply, request, None)

    def _post(
        self, path: str, body: dict[str, Any], key: str | None = None
    ) -> Steps[dict[str, Any]]:
        headers = {"Content-Type": "application/json"}
        if key is not None:
            headers["Idempotency-Key"] = key
        request = Request("POST", path, json.dumps(body).encode(), headers)
        reply = yield from self._exchanged(request)
        return document_of(reply, request, body.get("sql"))

    def _exchanged(self, request: Request) -> Steps[Reply]:
        """Send until a reply comes; an address that has answered is trusted to again.

        A server that restarts accepts no connection for some seconds; one that never
        answered is rather a wrong address, and soon said to be.
        """
        patience = self._defaults.patience
        if self._has_answered:
            patience = replace(patience, tries_to_connect=patience.tries)
        reply = yield from exchange(request, patience)
        self._has_answered = True
        return reply


def _path(dataset: str, *verb: str) -> str:
    return "/".join(["/v1/datasets", quote(dataset, safe=""), *verb])


def _column_name(column: str | dict[str, Any]) -> str:
    return column if isinstance(column, str) else str(column["name"])


def _price(
    epsilon: Epsilon | None, accuracy: Accuracy | None, rho: Epsilon | None
) -> dict[str, Any]:
    return {
        "epsilon": None if epsilon is None else loss_text(epsilon),
        "accuracy": None if accuracy is None else _accuracy(accuracy),
        "rho": None if rho is None else loss_text(rho),
    }


def _body(
    sql: str, price: dict[str, Any], project: str | None, options: Options | None
) -> dict[str, Any]:
    given = {**price, "project": project, "options": options or None}
    return {"sql": sql, **{k: v for k, v in given.items() if v is not None}}


def _study_body(
    questions: Sequence[str | StudyQuestion],
    accuracy: Accuracy | None,
    total: dict[str, Epsilon | None],
) -> dict[str, Any]:
    given = {word: loss_text(loss) for word, loss in total.items() if loss is not None}
    return {"questions": [_in_study(one, accuracy) for one in questions], **given}


def _in_study(
    question: str | StudyQuestion, accuracy: Accuracy | None
) -> dict[str, Any]:
    """Return a question as the wire has it; the common accuracy where it says none."""
    told: dict[str, Any] = (
        {"sql": question} if isinstance(question, str) else {**question}
    )
    if accuracy is not None and not told.keys() & {"accuracy", "epsilon", "rho"}:
        told["accuracy"] = accuracy
    if "accuracy" in told:
        told["accuracy"] = _accuracy(told["accuracy"])
    for word in ("epsilon", "rho"):
        if word in told:
            told[word] = loss_text(told[word])
    return told


def _accuracy(accuracy: Accuracy) -> dict[str, Any]:
    named: dict[str, Any] = (
        {**accuracy} if isinstance(accuracy, dict) else {"within": accuracy}
    )
    return {"confidence": 0.95, **named}


def loss_text(epsilon: Epsilon) -> str:
    """Return the loss as the wire writes it: digits and a point, no exponent.

    Raises:
        ValueError: It is no number.
    """
    if isinstance(epsilon, str):
        return epsilon
    try:
        return format(Decimal(str(epsilon)), "f")
    except InvalidOperation:
        message = f"a loss is a number or its text, such as '0.1', not {epsilon!r}"
        raise ValueError(message) from None
