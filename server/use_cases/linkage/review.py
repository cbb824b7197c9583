"""Clerical review: doubtful pairs, what clerks say of them, and how clerks agree.

All of it is for custodians of the population; no source and no register is opened.
"""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any, cast

from sqlalchemy import Connection, Row

from privacy.errors import InvalidOptionError
from privacy.times import shown_time, shown_time_if_any
from server.use_cases.jobs.jobs import Viewer
from server.use_cases.linkage.opinions import (
    UNDECIDED,
    Opinion,
    Pair,
    Standing,
    State,
    agreements,
)
from server.use_cases.linkage.replies import (
    ActShape,
    AgreementsShape,
    DecisionShape,
    DoubtDetail,
    DoubtItem,
    LinkageDetail,
    LinkageItem,
    OpinionShape,
    RunItem,
    Verdict,
)
from server.use_cases.linkage.store import (
    DoubtRow,
    LinkageRow,
    LinkageStore,
    opened_body,
)
from server.use_cases.services.errors import (
    CommandRefusedError,
    NoSuchThingError,
    NotFoundError,
)
from server.use_cases.services.paging import NO_CURSOR, ListOf, Page, listed
from server.use_cases.services.services import Services
from server.use_cases.services.text_cipher import read_text_key

_DIGITS = 9  # of a number of 32 bits


class ReviewService:
    """What clerks see and say; for viewers who are custodians of the population."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._store = LinkageStore()

    def page(self, viewer: Viewer, page: Page) -> ListOf[LinkageItem]:
        """List the linkages of the viewer's populations, newest first.

        Raises:
            InvalidOptionError: The cursor is none that a list gave.
        """
        with self._services.databases.reader.connect() as connection:
            rows = self._store.all(connection, viewer.populations)
            shown, cursor = _paged([row.id for row in rows], page)
            by_id = {row.id: row for row in rows}
            items = [self._item(connection, by_id[one]) for one in shown]
        return listed(items, cursor)

    def show(self, viewer: Viewer, wanted: str) -> LinkageDetail:
        """Describe a linkage: its latest report, and its runs.

        Raises:
            NotFoundError: Unknown, or another custodian's.
        """
        with self._services.databases.reader.connect() as connection:
            row = self._visible(connection, viewer, wanted)
            runs = self._store.runs(connection, row.id)
            acts = Counter(
                (act.job, act.kind) for act in self._store.acts(connection, row.id)
            )
            item = self._item(connection, row)
        history: list[RunItem] = [
            {
                "job": run.job,
                "number": run.number,
                "created": shown_time(run.created),
                "created_by": run.created_by,
                "snapshot": run.snapshot,
                "merges": acts[run.job, "merge"],
                "splits": acts[run.job, "split"],
            }
            for run in runs
        ]
        return {
            **item,
            "opinions": row.opinions,
            "file": row.file,
            "report": json.loads(runs[0].report),
            "history": history,
        }

    def doubts(self, viewer: Viewer, wanted: str, page: Page) -> ListOf[DoubtItem]:
        """List the latest run's doubtful pairs, the surest first.

        Raises:
            NotFoundError: The linkage is unknown, or another custodian's.
            InvalidOptionError: The cursor is none that a list gave.
        """
        after = _number(page.cursor)
        with self._services.databases.reader.connect() as connection:
            row = self._visible(connection, viewer, wanted)
            found = self._store.doubts(
                connection, row.job, after=after, most=page.limit + 1
            )
            standing = self._store.standing(connection, row)
        shown = found[: page.limit]
        cursor = str(shown[-1].number) if len(found) > page.limit else None
        return listed([_doubt_item(one, standing) for one in shown], cursor)

    def next_open(self, viewer: Viewer, wanted: str) -> DoubtDetail | None:
        """Return the surest pair that the viewer has to say something of; None: none.

        Raises:
            NotFoundError: The linkage is unknown, or another custodian's.
        """
        with self._services.databases.reader.connect() as connection:
            row = self._visible(connection, viewer, wanted)
            standing = self._store.standing(connection, row)
            pairs = self._store.doubt_pairs(connection, row.job)
        for pair, reason in pairs.items():
            if standing.is_open_to(viewer.actor, pair, reason):
                return self.doubt(viewer, wanted, *pair)
        return None

    def doubt(self, viewer: Viewer, wanted: str, left: int, right: int) -> DoubtDetail:
        """Show a doubtful pair: both records, and why they agree as they do.

        Raises:
            NotFoundError: The latest run has no such pair, or it is another
                custodian's.
            TextKeyError: It is encrypted, and cannot be opened.
        """
        with self._services.databases.reader.connect() as connection:
            row = self._visible(connection, viewer, wanted)
            found = self._store.doubt(connection, row.job, (left, right))
            if found is None:
                raise _missing(viewer, _no_pair(left, right))
            standing = self._store.standing(connection, row, found.pair)
            history = self._store.history(connection, row.id, found.pair)
        body = opened_body(
            read_text_key(self._services.settings.text_key), row.job, found
        )
        return cast(
            "DoubtDetail",
            {
                **_doubt_item(found, standing),
                **body,
                "opinions": [_opinion(one) for one in history],
            },
        )

    def decide(
        self, viewer: Viewer, wanted: str, pair: Pair, verdict: Verdict
    ) -> DecisionShape:
        """Write what a clerk says of a pair; the next run goes by it.

        It need not be a doubtful one: who finds two people under one unit key parts
        them so.

        Raises:
            NotFoundError: The latest run has no such records, or they are another
                custodian's.
        """
        left, right = pair = min(pair), max(pair)
        with self._services.databases.writer.begin() as connection:
            row = self._visible(connection, viewer, wanted)
            if not 1 <= left < right <= self._records(connection, row):
                raise _missing(viewer, _no_records(left, right))
            opinion = Opinion(pair, viewer.actor, verdict)
            made, _ = self._store.decide(connection, row.id, opinion)
            found = self._store.decision(connection, row.id, made)
            state = self._state(connection, row, pair)
        return _decision(row, found, state)

    def undo(self, viewer: Viewer, wanted: str, decision: str) -> DecisionShape:
        """Take a decision back; who did is kept.

        Raises:
            NotFoundError: The linkage has no such decision, or is another custodian's.
            CommandRefusedError: It was taken back already.
        """
        with self._services.databases.writer.begin() as connection:
            row = self._visible(connection, viewer, wanted)
            if self._store.decision(connection, row.id, decision) is None:
                raise _missing(viewer, f"the linkage has no decision {decision!r}")
            if not self._store.undo(connection, decision, viewer.actor):
                message = f"the decision {decision} was taken back already"
                raise CommandRefusedError(message)
            found = self._store.decision(connection, row.id, decision)
            pair = (found.left, found.right) if found is not None else (0, 0)
            state = self._state(connection, row, pair)
        return _decision(row, found, state)

    def decisions(
        self, viewer: Viewer, wanted: str, page: Page
    ) -> ListOf[DecisionShape]:
        """List what clerks decided, the newest first, also what was taken back.

        Raises:
            NotFoundError: The linkage is unknown, or another custodian's.
            InvalidOptionError: The cursor is none that a list gave.
        """
        before = _number(page.cursor) if page.cursor else None
        with self._services.databases.reader.connect() as connection:
            row = self._visible(connection, viewer, wanted)
            found = self._store.decisions(
                connection, row.id, before=before, most=page.limit + 1
            )
            standing = self._store.standing(connection, row)
        shown = found[: page.limit]
        cursor = str(shown[-1].number) if len(found) > page.limit else None
        items = [
            _decision(row, one, standing.state((one.left, one.right))) for one in shown
        ]
        return listed(items, cursor)

    def agreement(self, viewer: Viewer, wanted: str) -> AgreementsShape:
        """Say what each clerk decided, and how any two agree.

        Raises:
            NotFoundError: The linkage is unknown, or another custodian's.
        """
        with self._services.databases.reader.connect() as connection:
            row = self._visible(connection, viewer, wanted)
            return agreements(self._store.opinions(connection, row.id))

    def acts(
        self, viewer: Viewer, wanted: str, *, after: str | None, upto: str | None
    ) -> list[ActShape]:
        """List what runs changed for patients, the oldest first.

        Args:
            viewer: Who asks.
            wanted: The linkage.
            after: Of runs behind that one, or the one that made that snapshot; None:
                of all.
            upto: Of runs up to that one, likewise.

        Raises:
            NotFoundError: The linkage, or such a run, is unknown.
        """
        with self._services.databases.reader.connect() as connection:
            row = self._visible(connection, viewer, wanted)
            runs = self._store.runs(connection, row.id)
            rows = self._store.acts(connection, row.id)
        first = _run_number(viewer, runs, after, 0)
        last = _run_number(viewer, runs, upto, runs[0].number)
        return [
            {
                "run": one.run,
                "job": one.job,
                "snapshot": one.snapshot,
                "kind": one.kind,
                "old": one.old,
                "new": one.new,
                "records": one.records,
            }
            for one in rows
            if first < one.run <= last
        ]

    def _visible(
        self, connection: Connection, viewer: Viewer, wanted: str
    ) -> LinkageRow:
        """Return a linkage by its id; on the host by its name, too."""
        row = self._store.by_id(connection, wanted)
        if row is None and viewer.populations is None:
            named = [o for o in self._store.all(connection) if o.name == wanted]
            if len(named) > 1:
                ids = ", ".join(one.id for one in named)
                message = f"{len(named)} populations have a linkage {wanted!r}: {ids}"
                raise CommandRefusedError(message)
            row = named[0] if named else None
        if row is None:
            raise _missing(viewer, f"no linkage {wanted!r}: see 'curator linkage list'")
        if viewer.populations is not None and row.population not in viewer.populations:
            raise NotFoundError
        return row

    def _records(self, connection: Connection, row: LinkageRow) -> int:
        """Return how many records the latest run knows: they have numbers from 1 on."""
        report = json.loads(self._store.runs(connection, row.id)[0].report)
        return int(report["records"]["in_all"])

    def _state(self, connection: Connection, row: LinkageRow, pair: Pair) -> State:
        return self._store.standing(connection, row, pair).state(pair)

    def _item(self, connection: Connection, row: LinkageRow) -> LinkageItem:
        standing = self._store.standing(connection, row)
        pairs = self._store.doubt_pairs(connection, row.job)
        states = Counter(standing.state(*one) for one in pairs.items())
        runs = self._store.runs(connection, row.id)
        return {
            "id": row.id,
            "name": row.name,
            "population": row.population,
            "created": shown_time(row.created),
            "created_by": row.created_by,
            "job": row.job,
            "runs": len(runs),
            "open": states["open"],
            "undecided": sum(states[one] for one in UNDECIDED),
            "waiting": self._is_waiting(connection, row),
        }

    def _is_waiting(self, connection: Connection, row: LinkageRow) -> bool:
        """Whether something was decided, or taken back, since the latest run."""
        run = self._store.runs(connection, row.id)[0]
        went_by = json.loads(run.report).get("decisions")
        held = self._store.count_opinions(connection, row.id, int(run.decisions))
        is_new = self._store.last_decision(connection, row.id) > int(run.decisions)
        return bool(is_new or held != went_by)


def pair_of(written: str) -> Pair:
    """Return the records of a pair that is written as ``12_40``.

    Raises:
        NotFoundError: It is no pair.
    """
    left, _, right = written.partition("_")
    if not all(_is_number(one) for one in (left, right)):
        raise NotFoundError
    return int(left), int(right)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _DIGITS


def _missing(viewer: Viewer, message: str) -> NoSuchThingError | NotFoundError:
    """Return what is said of what is not there: over HTTP that alone."""
    return NoSuchThingError(message) if viewer.populations is None else NotFoundError()


def _no_records(left: int, right: int) -> str:
    return (
        f"the latest run has no two records {left} and {right}: 'curator linkage "
        "crosswalk' writes their numbers"
    )


def _no_pair(left: int, right: int) -> str:
    return f"the latest run has no doubtful pair {left} {right}: see its doubts"


def _paged(ids: Sequence[str], page: Page) -> tuple[Sequence[str], str | None]:
    if page.cursor is not None and page.cursor not in ids:
        raise InvalidOptionError(NO_CURSOR)
    start = 0 if page.cursor is None else ids.index(page.cursor) + 1
    shown = ids[start : start + page.limit]
    return shown, shown[-1] if start + page.limit < len(ids) else None


def _number(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not _is_number(cursor):
        raise InvalidOptionError(NO_CURSOR)
    return int(cursor)


def _run_number(
    viewer: Viewer, runs: Sequence[Row[Any]], told: str | None, default: int
) -> int:
    if told is None:
        return default
    for run in runs:
        if told in {run.job, run.snapshot, str(run.number)}:
            return int(run.number)
    raise _missing(viewer, f"no run of this linkage is, or made, {told!r}")


def _doubt_item(doubt: DoubtRow, standing: Standing) -> DoubtItem:
    verdicts = standing.verdicts(doubt.pair)
    return {
        "number": doubt.number,
        "left": doubt.left,
        "right": doubt.right,
        "score": doubt.score,
        "weight": doubt.weight,
        "reason": doubt.reason,
        "verdicts": dict(Counter(verdicts.values())),
        "state": standing.state(doubt.pair, doubt.reason),
    }


def _opinion(row: Row[Any]) -> OpinionShape:
    return {
        "decision": row.id,
        "verdict": row.verdict,
        "created": shown_time(row.created),
        "created_by": row.created_by,
        "undone": shown_time_if_any(row.undone),
        "undone_by": row.undone_by,
    }


def _decision(row: LinkageRow, found: Row[Any] | None, state: State) -> DecisionShape:
    if found is None:  # it was written in this transaction
        raise TypeError
    return {
        "decision": found.id,
        "number": found.number,
        "linkage": row.id,
        "left": found.left,
        "right": found.right,
        "verdict": found.verdict,
        "created": shown_time(found.created),
        "created_by": found.created_by,
        "undone": shown_time_if_any(found.undone),
        "state": state,
    }
