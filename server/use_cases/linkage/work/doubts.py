"""Doubtful pairs as rows: what both records say, and why they agree as they do."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from server.persistence.linkage_tables import linkage_act, linkage_doubt
from server.use_cases.extraction.store.slices import Row, Slices
from server.use_cases.linkage.replies import RecordShape, StepShape
from server.use_cases.linkage.store import doubt_place
from server.use_cases.services.text_cipher import TextCipher
from upstream.linkage.declared import LinkageSpec
from upstream.linkage.records import Step
from upstream.linkage.registers.register import Register, quoted
from upstream.linkage.review.differences import marked
from upstream.linkage.scoring.parameters import Parameters
from upstream.linkage.scoring.scoring import Scoring

_BATCH: Final = 500
MOST: Final = 10_000
"""Doubtful pairs that are kept for clerks, the surest; more are there when they are
decided and applied."""


class DoubtWriter:
    """Writes a run's doubts and acts; nobody sees them until the run counts."""

    def __init__(
        self,
        register: Register,
        spec: LinkageSpec,
        scoring: Scoring,
        cipher: TextCipher,
    ) -> None:
        self._register = register
        self._fields = list(spec.fields)
        self._scoring = scoring
        self._cipher = cipher

    def write(self, slices: Slices, job: str, parameters: Parameters) -> int:
        """Write them anew; return how many doubts there are in all.

        Raises:
            LeaseLostError: The job is another worker's now.
        """
        slices.delete(linkage_doubt, linkage_doubt.c.job == job)
        slices.delete(linkage_act, linkage_act.c.job == job)
        slices.insert(linkage_doubt, self._doubts(job, parameters))
        slices.insert(linkage_act, self._acts(job))
        return self._register.count("doubt")

    def _acts(self, job: str) -> Iterator[Row]:
        rows = self._register.connection.execute(
            "SELECT ordinal, kind, old, new, records FROM act ORDER BY ordinal"
        ).fetchall()
        for number, kind, old, new, records in rows:
            yield {
                "job": job,
                "number": number,
                "kind": kind,
                "old": old,
                "new": new,
                "records": records,
            }

    def _doubts(self, job: str, parameters: Parameters) -> Iterator[Row]:
        rows = self._register.connection.execute(
            'SELECT ordinal, "left", "right", score, weight, reason FROM doubt '
            "ORDER BY ordinal LIMIT ?",
            [MOST],
        ).fetchall()
        for start in range(0, len(rows), _BATCH):
            some = rows[start : start + _BATCH]
            pairs = [(left, right) for _, left, right, *_ in some]
            steps = self._scoring.steps_of(parameters, pairs)
            records = self._records(number for pair in pairs for number in pair)
            for number, left, right, score, weight, reason in some:
                told = [records[left], records[right]]
                body: dict[str, object] = {
                    "records": told,
                    "prior": parameters.prior_weight,
                    "steps": [_step(one, told) for one in steps[left, right]],
                }
                yield {
                    "job": job,
                    "number": number,
                    "left": left,
                    "right": right,
                    "score": score,
                    "weight": weight,
                    "reason": reason,
                    "body": self._closed(job, number, body),
                }

    def _closed(self, job: str, number: int, body: dict[str, object]) -> bytes:
        return self._cipher.encrypt(
            json.dumps(body).encode(), *doubt_place(job, number)
        )

    def _records(self, numbers: Iterable[int]) -> dict[int, RecordShape]:
        """Return what records say, by their numbers."""
        columns = ", ".join(f"record.{quoted(name)}" for name in self._fields)
        rows = self._register.connection.execute(
            f"SELECT number, source, id, standing.key, {columns} FROM record "  # noqa: S608 - declared identifiers, quoted
            "JOIN standing USING (number) "
            "WHERE number IN (SELECT unnest(?::INTEGER[]))",
            [sorted(set(numbers))],
        ).fetchall()
        return {row[0]: self._record(row) for row in rows}

    def _record(self, row: Sequence[Any]) -> RecordShape:
        number, source, id_, key, *values = row
        told = zip(self._fields, values, strict=True)
        return {
            "record": number,
            "source": source,
            "id": id_,
            "patient": key,
            "values": {name: value for name, value in told if value is not None},
        }


def _step(step: Step, records: Sequence[RecordShape]) -> StepShape:
    ours, theirs = (one["values"].get(step.field, "") for one in records)
    left, right = marked(ours, theirs)
    return {
        "field": step.field,
        "level": step.level,
        "similarity": step.similarity,
        "weight": step.weight,
        "left": left,
        "right": right,
    }
