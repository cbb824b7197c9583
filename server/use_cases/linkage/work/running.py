"""One run of a linkage: rows to records, pairs to patients, and what clerks decide.

What was read and scored is kept when an attempt is cut off: the next one goes on with
the register that it left.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from privacy.wording import counted
from server.use_cases.linkage.opinions import (
    Dependent,
    Opinion,
    last_verdicts,
    state_of,
)
from server.use_cases.linkage.work.declarations import Linkage
from server.use_cases.linkage.work.looping import Loop
from server.use_cases.linkage.work.texts import Known, TextRows
from server.use_cases.services.documents import Document
from server.use_cases.services.errors import CommandRefusedError
from upstream.linkage.loop.facts import PatientFacts, facts_of
from upstream.linkage.loop.rounds import Rounds, run_rounds
from upstream.linkage.patients.settled import (
    Settled,
)
from upstream.linkage.records import Decision, Record
from upstream.linkage.registers.duplicates import Duplicates, duplicates_of
from upstream.linkage.registers.patients import (
    begin_keys,
    settle_register,
    write_settled,
)
from upstream.linkage.registers.records import Fields, Recorded, record_rows
from upstream.linkage.registers.register import Register, Tell, quoted
from upstream.linkage.registers.tables import Rows, read_table
from upstream.linkage.scoring.parameters import Parameters
from upstream.linkage.scoring.scoring import Scoring

_ROWS, _RECORDED, _PARAMETERS, _SPEC = "rows", "recorded", "parameters", "spec"
_BLOCKING = "blocking"
_STAGE, _BEFORE = "stage", "before"
_BATCH = 10_000
_SCORED = "scored"


@dataclass(frozen=True, slots=True)
class Given:
    """What a run is given.

    Attributes:
        declared: The linkage.
        import_folder: Where tables lie.
        texts: The sources of texts, read and tagged.
        opinions: Of clerks, in their order.
        earlier: The register of the run before, opened; None: there is none.
        before: The job of that run.
        learns: Whether parameters are learned anew, though nothing else changed.
        dependent: Clerks who may be one person.
    """

    declared: Linkage
    import_folder: Path
    texts: Sequence[TextRows]
    opinions: Sequence[Opinion]
    earlier: Path | None
    before: str | None = None
    learns: bool = False
    dependent: Dependent = frozenset()


@dataclass(slots=True)
class Result:
    """What came of a run; counts of raw records, for custodians alone.

    Attributes:
        recorded: What became of rows.
        decisions: How many opinions of clerks it went by.
        rows: The rows of each source.
        settled: Whose each record is.
        duplicates: How many patients have several ids.
        parameters: By which pairs were scored.
        known: By source of texts, what the loop found.
        rounds: What each round of it gained; None: it was not asked for.
        blocking: What each pass brought together, and what all may have missed.
    """

    recorded: Recorded
    decisions: int
    rows: list[Rows]
    settled: Settled
    duplicates: Duplicates
    parameters: Parameters
    known: Mapping[str, Known]
    rounds: Rounds | None
    blocking: Document

    def report(self) -> Document:
        """Return it as a report."""
        set_aside: Document = {
            one.source: {"rows": one.set_aside, "first": one.told}
            for one in self.rows
            if one.set_aside
        }
        return {
            "records": {
                "in_all": self.recorded.records,
                "new": self.recorded.new,
                "changed": self.recorded.changed,
                "gone": self.recorded.gone,
            },
            "rows": {one.source: one.count for one in self.rows},
            "files": {one.source: list(one.files) for one in self.rows if one.files},
            "set_aside": set_aside,
            "rows_without_id": self.recorded.without_id,
            "ids_that_disagree": self.recorded.divided,
            "patients": self.duplicates.patients,
            "decisions": self.decisions,
            "doubts": len(self.settled.doubts),
            "duplicates": asdict(self.duplicates),
            "blocking": self.blocking,
            "thresholds": {
                "link": self.parameters.link,
                "review": self.parameters.review,
            },
            "found": dict(self.parameters.found),
            **({"rounds": self.rounds.to_json()} if self.rounds else {}),
        }


def is_scored(register: Register, before: str | None) -> bool:
    """Whether an attempt that was cut off left all rows read and all pairs scored.

    Args:
        register: As it was left.
        before: The job of the run that counts now: numbers of records and unit keys
            follow from it, so what was begun behind another one is of no use.
    """
    if not register.count("duckdb_tables()", "table_name = 'fact'"):
        return False
    return register.fact(_STAGE) == _SCORED and register.fact(_BEFORE) == before


class Run:
    """A run, over an open register."""

    def __init__(self, register: Register, given: Given, tell: Tell) -> None:
        self._register = register
        self._given = given
        self._spec = given.declared.match
        self.scoring = Scoring(register.connection, self._spec, tell=tell)
        self._tell = tell
        self._rows: list[Rows] = []

    def score(self) -> None:
        """Read the sources, make records, and score their pairs."""
        register, given = self._register, self._given
        register.create(self._spec)
        if given.earlier is not None:
            register.take_over(given.earlier, self._spec)
        begin_keys(register)
        rows = [self._read_table(n) for n in range(len(given.declared.tables))]
        rows += [one.read(register, Known({}), self._tell) for one in given.texts]
        recorded = self._record(rows)
        self._require_records(recorded)
        self.scoring.prepare()
        self._score_pairs(recorded)
        register.remember(_ROWS, [asdict(one) for one in rows])
        register.remember(_RECORDED, asdict(recorded))
        register.remember(_BLOCKING, asdict(self.scoring.blocking()))
        register.remember(_BEFORE, given.before)
        register.remember(_STAGE, _SCORED)

    def _read_table(self, number: int) -> Rows:
        source = self._given.declared.tables[number]
        return read_table(self._register, source, self._given.import_folder, self._tell)

    def _record(self, rows: Sequence[Rows]) -> Recorded:
        """Make records, in the order in which sources are declared."""
        by_name = {one.source: one for one in rows}
        told = []
        for source in self._given.declared.sources:
            if source.kind == "table":
                fields = {name: source.columns_of(name) for name in source.fields}
                told.append(Fields(by_name[source.name], source.id, fields))
            else:
                made = {one.name: (one.name,) for one in source.fields}
                told.append(Fields(by_name[source.name], ("id",), made))
        return record_rows(self._register, self._spec, told)

    def _require_records(self, recorded: Recorded) -> None:
        if recorded.records == recorded.gone:
            nobodys = sum(recorded.without_id.values())
            message = (
                f"no source has a record: {counted(nobodys, 'row')} without an id. Are "
                "the columns of id those that you mean?"
            )
            raise CommandRefusedError(message)

    def _score_pairs(self, recorded: Recorded) -> None:
        """Score pairs: those of new records alone, where nothing else changed."""
        register = self._register
        spec = self._spec.model_dump_json()
        told = register.fact(_PARAMETERS)
        is_same = register.fact(_SPEC) == spec and told is not None
        if is_same and not self._given.learns:
            parameters = Parameters.from_json(str(told))
        else:
            self._tell("learn", 0, None)
            parameters = self.scoring.learn(self._decisions())
        if is_same and not self._given.learns and not recorded.changed:
            register.connection.execute("CREATE TEMP TABLE kept AS FROM pair")
            self.scoring.score(parameters, recorded.first_new)
            register.connection.execute("INSERT INTO pair FROM kept")
            register.connection.execute("DROP TABLE kept")
        else:
            self.scoring.score(parameters)
        register.remember(_PARAMETERS, parameters.to_json())
        register.remember(_SPEC, spec)

    def _decisions(self) -> list[Decision]:
        """Return what clerks decided, in the order of their decisions."""
        told = last_verdicts(self._given.opinions)
        needed, dependent = self._given.declared.opinions, self._given.dependent
        states = {
            pair: state_of(verdicts, needed, dependent)
            for pair, verdicts in told.items()
        }
        return [
            Decision(*pair, is_match=state == "match")
            for pair, state in states.items()
            if state in {"match", "no_match"}
        ]

    def settle(self) -> Result:
        """Settle whose each record is, and let texts be searched for what is known."""
        self._rows = self._remembered_rows()
        self._register.remember(_STAGE, "settling")  # from here on records change
        loop = Loop(self, self._given.texts)
        most = self._given.declared.rounds if self._given.texts else 1
        rounds = run_rounds(loop, most, lambda n, of: self._tell("rounds", n, of))
        write_settled(self._register, loop.settled)
        is_probability = self._spec.method.kind == "fellegi_sunter"
        return Result(
            Recorded(**_members(self._register.fact(_RECORDED))),
            len(self._given.opinions),
            self._rows,
            loop.settled,
            duplicates_of(
                self._register,
                has_probabilities=is_probability,
                without_ids=[
                    t.source.name for t in self._given.texts if not t.source.id
                ],
                decisions=self._decisions(),
            ),
            self.parameters(),
            loop.known,
            rounds if most > 1 else None,
            _members(self._register.fact(_BLOCKING)),
        )

    def _remembered_rows(self) -> list[Rows]:
        told = self._register.fact(_ROWS)
        if not isinstance(told, list):
            raise TypeError
        return [Rows(**one) for one in told]

    def parameters(self) -> Parameters:
        """Return by which pairs are scored."""
        return Parameters.from_json(str(self._register.fact(_PARAMETERS)))

    def settled(self) -> Settled:
        """Return whose each record is, by what is scored now."""
        self._tell("settle", 0, None)
        parameters = self.parameters()
        return settle_register(
            self._register,
            self._spec,
            (parameters.link, parameters.review),
            self._decisions(),
            lambda pairs: self.scoring.score_pairs(parameters, pairs),
        )

    def facts(self, keys: Sequence[int]) -> dict[int, PatientFacts]:
        """Return what is known of patients of several records, by unit key.

        Args:
            keys: Unit keys by record; place 0 is unused.
        """
        fields = self._spec.fields
        columns = ", ".join(map(quoted, fields))
        found = self._register.connection.cursor().execute(
            f"SELECT number, source, id, {columns} FROM record ORDER BY number"  # noqa: S608 - declared identifiers, quoted
        )
        records: dict[int, list[Record]] = defaultdict(list)
        while rows := found.fetchmany(_BATCH):
            for number, source, id_, *values in rows:
                told = {n: v for n, v in zip(fields, values, strict=True) if v}
                records[keys[number]].append(Record(number, source, id_, told))
        return {
            key: facts_of(fields, told)
            for key, told in records.items()
            if len(told) > 1
        }

    def owners(self, source: str, keys: Sequence[int]) -> dict[int, int]:
        """Return the unit key of each document of a source, by its number."""
        rows = self._register.connection.execute(
            f"SELECT row, record FROM {Rows(source).table} WHERE record IS NOT NULL"  # noqa: S608 - a declared identifier
        ).fetchall()
        return {row: keys[record] for row, record in rows}

    def read_again(self, known: Mapping[str, Known]) -> int:
        """Read texts with what was found in them; return how many values are new.

        Args:
            known: By source, what the loop found.
        """
        again = {
            one.source.name: one.read(
                self._register, known[one.source.name], self._tell
            )
            for one in self._given.texts
        }
        before = self.values()
        self._rows = [again.get(one.source, one) for one in self._rows]
        self._record(self._rows)
        return self.values() - before

    def score_again(self) -> None:
        """Score all pairs by what records say now."""
        self.scoring.prepare()
        self.scoring.score(self.parameters())

    def values(self) -> int:
        """Return how many fields of records have a value."""
        told = " + ".join(f"count({quoted(name)})" for name in self._spec.fields)
        row = self._register.connection.execute(
            f"SELECT {told} FROM record"  # noqa: S608 - declared identifiers, quoted
        ).fetchone()
        return int(row[0]) if row else 0

    def tell(self, stage: str, done: int, total: int | None) -> None:
        """Say how far the run is."""
        self._tell(stage, done, total)


def _members(told: object) -> dict[str, Any]:
    if not isinstance(told, dict):
        raise TypeError
    return told
