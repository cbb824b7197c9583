"""The kind of job that makes an anonymized copy of a table: ``anonymize.tables``."""

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Final

from privacy.wording import counted
from server.use_cases.anonymization.work.copy_jobs import (
    CopyJob,
    Counts,
    Making,
    declared_manifest,
    refusing,
)
from server.use_cases.anonymization.work.files import (
    ReadTable,
    hierarchy_file,
    read_columns,
    read_crosswalk,
    write_private_rows,
)
from server.use_cases.anonymization.work.members import RawMembers
from server.use_cases.anonymization.work.tables.declarations import TableCopy
from server.use_cases.extraction.declarations import Found
from server.use_cases.jobs.kinds import JobContext
from server.use_cases.services.documents import Document
from server.use_cases.services.errors import CommandRefusedError
from upstream.anonymization.copies.choosing import Choice, choices
from upstream.anonymization.copies.given import (
    GivenTable,
    Made,
    given_table,
    made_table,
)
from upstream.anonymization.copies.measuring import measures_of, risks_as_is
from upstream.anonymization.copies.publishing import published_rows
from upstream.anonymization.declared.columns import FromFile
from upstream.anonymization.errors import UnreachableError

ROWS: Final = "rows.csv"
BROKEN_BY: Final = (
    "homogeneity: where all of a class share a sensitive value, it is known of each",
    "background knowledge: what somebody knows besides leaves few of a class over",
    "intersection: two copies of the same patients, each k-anonymous, tell fewer apart",
    "minimality: who knows the rules knows that a class was made because less failed",
    "several rows of one patient, where somebody knows them all",
    "columns that are published as they are, where somebody knows their values",
)
"""What is known to break a copy of a table; it stands in each manifest."""
_NEARLY_ALL = 0.5  # of patients with a value that no other has: it names them
_VARIED = 0.2  # values by rows, where several rows may be one patient's
_FEW = 20  # patients, of whom nothing is said by that


class TableCopyJob(CopyJob):
    """Makes an anonymized copy of a table, or says what each k would give."""

    name = "anonymize.tables"
    declared = TableCopy
    kind = "tables"

    def inputs_of(self, found: Found[TableCopy]) -> list[Document]:
        """Return nothing more: the files' names stand in the copy's manifest."""
        for spec in found.declared.quasi_identifiers.values():
            if isinstance(spec, FromFile):
                hierarchy_file(self._services.settings.import_, spec.file)
        return []

    def making(self, context: JobContext, found: Found[TableCopy]) -> Making:
        """Read the files.

        Raises:
            CuratorError: They do not serve.
            JobStoppedError: The job has to stop.
        """
        declared = found.declared
        ids = None
        with self.reading(context) as reading:
            read = read_columns(declared.table, declared.columns, reading)
            if declared.linked is not None:
                ids = list(read.columns[str(declared.patient)])
                _link(declared, read, read_crosswalk(declared.linked, reading))
        return _Making(context, declared, (read, ids), self._given(declared, read))

    def _given(self, declared: TableCopy, read: ReadTable) -> GivenTable:
        _require_patients(declared, read)
        _require_shared(declared, read)
        configured = self._services.settings.import_
        with refusing():
            return given_table(
                read.columns,
                (declared.quasi_identifiers, declared.sensitive),
                None if declared.patient is None else read.columns[declared.patient],
                (declared.how(), partial(hierarchy_file, configured)),
            )


class _Making:
    """One attempt: the table, and what becomes of it."""

    def __init__(
        self,
        context: JobContext,
        declared: TableCopy,
        read: tuple[ReadTable, list[str | None] | None],
        given: GivenTable,
    ) -> None:
        self._context, self._declared = context, declared
        (self._read, self._ids), self._given = read, given
        self._made: Made | None = None

    def planned(self) -> Document:
        """Return what each k would lose and risk."""
        found: list[Choice] = []
        tried = choices(self._given, self._declared.how(), self._declared.k)
        with refusing():
            for number, one in enumerate(tried, 1):
                found.append(one)
                self._context.progress("try k", number, None)
        return {
            **self._counts(),
            "risk_as_is": _rounded(asdict(risks_as_is(self._given))),
            "choices": [_choice(one) for one in found],
        }

    def written(self, folder: Path) -> Document:
        """Write the rows; return what was lost and is risked.

        Raises:
            UnreachableError: No such table can be made.
            OSError: They cannot be written.
        """
        declared, given = self._declared, self._given
        self._context.progress("anonymize", 0, given.rows)
        try:
            with refusing():
                made = self._made = made_table(given, declared.k, declared.how())
        except UnreachableError as error:
            raise UnreachableError(error.principle, _counted(given)) from None
        others = {
            name: self._read.columns[name] for name in declared.published_as_they_are
        }
        header, rows = published_rows(made.table, others)
        self._context.raise_if_stopped()
        write_private_rows(folder / ROWS, header, rows)
        return {
            **self._counts(),
            "principle": str(given.principle(declared.k)),
            "rows_published": len(rows),
            "levels": None if made.levels is None else dict(made.levels),
            "measures": measures_of(given, made.table, declared.k).document(),
        }

    def _counts(self) -> Document:
        return {
            "method": self._declared.method,
            "k": self._declared.k,
            **self._read.document(),
            "patients": self._given.people,
            "several_rows_a_patient": self._given.patients is not None,
        }

    def members(self) -> RawMembers | None:
        """Return whose each published row is, and its class."""
        if self._declared.patient is None or self._made is None:
            return None
        table = self._made.table
        kept = table.is_published.nonzero()[0].tolist()
        keys = [str(self._read.columns[self._declared.patient][row]) for row in kept]
        classes = table.classes[kept].tolist()
        if self._ids is None:
            return RawMembers(keys, classes)
        return RawMembers([str(self._ids[row]) for row in kept], classes, keys)

    def manifest(self) -> Document:
        """Return what was declared, and what breaks such copies."""
        return declared_manifest(self._declared, "table", BROKEN_BY)

    def summary(self, counts: Counts) -> list[str]:
        """Return in sentences what the table is, lost and risks."""
        declared = self._declared
        told = counts["measures"]
        people = counted(self._given.people, "patient")
        as_they_are = ", ".join(declared.published_as_they_are) or "none"
        rows = f"{counts['rows_published']:,} of {counts['rows']:,} rows"
        made = f"by {declared.method}: {counts['principle']}"
        columns = ", ".join(declared.quasi_identifiers)
        risk = f"prosecutor {told['prosecutor']}, marketer {told['marketer']}"
        together = told["together"] or "as prosecutor"
        return [
            f"a table of {rows} of {people}, {made}",
            f"generalized: {columns}; as they are: {as_they_are}",
            f"risk: {risk}, together {together}; loss: gcp {told['gcp']}",
        ]


def _counted(given: GivenTable) -> str:
    """Return in words how many patients and sensitive values there are."""
    values = {
        name: counted(len(set(column.codes.tolist())), "value")
        for name, (_, column) in given.sensitive.items()
    }
    told = [f"{count} of {name}" for name, count in values.items()]
    return ", ".join([counted(given.people, "patient"), *told])


def _choice(one: Choice) -> Document:
    told = None if one.measures is None else one.measures.document()
    return {"k": one.k, "is_possible": told is not None, **(told or {})}


def _rounded(told: dict[str, float]) -> Document:
    return {name: round(value, 4) for name, value in told.items()}


def _require_patients(declared: TableCopy, read: ReadTable) -> None:
    """Refuse rows of nobody: k counts patients.

    Raises:
        CommandRefusedError: There are some.
    """
    if declared.patient is None:
        return
    count = read.columns[declared.patient].count(None)
    if count:
        message = (
            f"{count} of {read.rows} rows name no patient in {declared.patient!r}: "
            "mend or remove them. Nothing was made"
        )
        raise CommandRefusedError(message)


def _link(declared: TableCopy, read: ReadTable, patients: dict[str, str]) -> None:
    """Put patients' keys in place of the ids that a linkage found to be theirs.

    Raises:
        CommandRefusedError: An id is none of the source's.
    """
    ids = read.columns[str(declared.patient)]
    lost = sum(one is not None and one not in patients for one in ids)
    if lost:
        message = (
            f"{lost} of {read.rows} rows have an id that the crosswalk lacks: write it "
            "anew (curator linkage crosswalk). Nothing was made"
        )
        raise CommandRefusedError(message)
    ids[:] = [None if one is None else patients[one] for one in ids]


def _require_shared(declared: TableCopy, read: ReadTable) -> None:
    """Refuse columns that name patients, though they are published as they are.

    Raises:
        CommandRefusedError: There is one that the file does not admit.
    """
    patients: Sequence[str | int | None] = range(read.rows)
    if declared.patient is not None:
        patients = read.columns[declared.patient]
    for name in declared.published_as_they_are:
        apart, everybody = _told_apart(patients, read.columns[name])
        if name in declared.unique or everybody < _FEW:
            continue
        # Where rows name no patient, a few of them may be one patient's all the same.
        kinds = len(set(read.columns[name]) - {None})
        is_varied = declared.patient is None and kinds > _VARIED * everybody
        if is_varied or apart > _NEARLY_ALL * everybody:
            message = (
                f"most patients have a value of {name!r} that nobody else has, as "
                "names and numbers of patients are: leave the column out, write it "
                "under quasi_identifiers, or under unique: if nobody can know it"
            )
            raise CommandRefusedError(message)


def _told_apart(
    patients: Sequence[str | int | None], values: Sequence[str | None]
) -> tuple[int, int]:
    """Return how many patients have a value of their own, and how many have any."""
    holder: dict[str, str | int | None] = {}
    shared: set[str] = set()
    for patient, value in zip(patients, values, strict=True):
        if value is not None and holder.setdefault(value, patient) != patient:
            shared.add(value)
    having = {
        patient
        for patient, value in zip(patients, values, strict=True)
        if value is not None
    }
    apart = {who for value, who in holder.items() if value not in shared}
    return len(apart), len(having)
