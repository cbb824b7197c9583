"""The kind of job that makes an anonymized copy of codes: ``anonymize.codes``."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from privacy.wording import counted
from server.use_cases.anonymization.work.codes.declarations import (
    CodesCopy as CodesCopyFile,
)
from server.use_cases.anonymization.work.codes.declarations import CodeWeights
from server.use_cases.anonymization.work.copy_jobs import (
    CopyJob,
    Counts,
    Making,
    declared_manifest,
    refusing,
)
from server.use_cases.anonymization.work.files import (
    ReadTable,
    TableFiles,
    hierarchy_file,
    read_columns,
    write_private_rows,
)
from server.use_cases.anonymization.work.members import RawMembers
from server.use_cases.extraction.declarations import Found
from server.use_cases.jobs.kinds import JobContext
from server.use_cases.services.documents import Document
from server.use_cases.services.errors import CommandRefusedError
from upstream.anonymization.codes.aligned import AlignedCodes
from upstream.anonymization.codes.censored import CensoredCodes
from upstream.anonymization.codes.copies import CodesCopy, CodesMethod
from upstream.anonymization.codes.trees import file_tree, system_tree
from upstream.anonymization.copies.choosing import tried_ks
from upstream.anonymization.declared.columns import FromFile
from upstream.trajectories.codes.tree import CodeTree
from upstream.trajectories.lda.trajectories import Weights

RECORDS: Final = "records.csv"
BROKEN_BY: Final = (
    "homogeneity: where all who are published alike share a code, each has it",
    "background knowledge: codes that somebody knows a patient does not have",
    "intersection: two copies of the same patients, or one and a table",
    "minimality: who knows the rules knows that less would have told somebody apart",
    "a patient who is known not to be among the people that were counted",
)
"""What is known to break a copy of codes; it stands in each manifest."""
Read = Callable[[TableFiles], ReadTable]


class CodesCopyJob(CopyJob):
    """Makes an anonymized copy of codes, or says what each k would give."""

    name = "anonymize.codes"
    declared = CodesCopyFile
    kind = "codes"

    def inputs_of(self, found: Found[CodesCopyFile]) -> list[Document]:
        """Return nothing more: the files' names stand in the copy's manifest."""
        system = found.declared.system
        if isinstance(system, FromFile):
            hierarchy_file(self._services.settings.import_, system.file)
        return []

    def making(self, context: JobContext, found: Found[CodesCopyFile]) -> Making:
        """Read the files.

        Raises:
            CuratorError: They do not serve.
            JobStoppedError: The job has to stop.
        """
        declared, configured = found.declared, self._services.settings.import_

        def read(told: TableFiles) -> ReadTable:
            with self.reading(context) as reading:
                return read_columns(told, declared.columns, reading)

        with refusing():
            return _Making(context, declared, read, configured)


class _Records:
    """Rows of codes, by patient."""

    def __init__(self, read: ReadTable, declared: CodesCopyFile) -> None:
        self.read = read
        columns = read.columns
        ages: Sequence[str | None] = [""] * read.rows
        if declared.age is not None:
            ages = columns[declared.age]
        rows = zip(columns[declared.patient], columns[declared.code], ages, strict=True)
        self.incomplete = 0
        self.codes: dict[str, list[str]] = defaultdict(list)
        self.aged: dict[str, list[tuple[str, int]]] = defaultdict(list)
        for patient, code, age in rows:
            if patient is None or code is None or age is None:
                self.incomplete += 1
                continue
            self.codes[patient].append(code)
            if declared.age is not None:
                self.aged[patient].append((code, _years(age, declared.age)))
        self.patients = sorted(self.codes)
        if not self.patients:
            message = "no row has a patient and a code: nothing was made"
            raise CommandRefusedError(message)


def _years(text: str, column: str) -> int:
    """Return completed years; a decimal point with zeros behind it is none.

    Raises:
        CommandRefusedError: The text, which is not quoted, is none.
    """
    try:
        number = float(text)
        if number.is_integer():
            return int(number)
    except (ValueError, OverflowError):
        pass
    message = (
        f"a value of {column!r} is no age in completed years: mend the file, or count "
        "the years there"
    )
    raise CommandRefusedError(message)


class _Making:
    """One attempt: the records, and what becomes of them."""

    def __init__(
        self,
        context: JobContext,
        declared: CodesCopyFile,
        read: Read,
        configured: Path | None,
    ) -> None:
        self._context, self._declared = context, declared
        self._records = _Records(read(declared.codes), declared)
        self._made: CodesCopy | None = None
        self._method: CodesMethod = (
            self._censoring(read)
            if declared.method == "gccens"
            else self._aligning(configured)
        )

    def _censoring(self, read: Read) -> CensoredCodes:
        declared, sample = self._declared, self._records
        people = sample
        if declared.people is not None:
            people = _Records(read(declared.people), declared)
            lost = len(sample.codes.keys() - people.codes.keys())
            if lost:
                message = (
                    f"{lost} of {len(sample.patients)} patients are not among the "
                    "people: people: names everybody, the sample's too"
                )
                raise CommandRefusedError(message)
        return CensoredCodes(
            [sample.codes[one] for one in sample.patients],
            [people.codes[one] for one in people.patients],
            declared.caps if declared.caps is not None else 1,
            declared.strategy or "by_caps",
        )

    def _aligning(self, configured: Path | None) -> AlignedCodes:
        declared, records = self._declared, self._records
        weights = declared.weights or CodeWeights()
        return AlignedCodes(
            [records.aged[one] for one in records.patients],
            self._tree(configured),
            Weights(weights.code, weights.age),
            declared.aligner or "a-gs",
        )

    def _tree(self, configured: Path | None) -> CodeTree:
        system = self._declared.system
        codes = {code for own in self._records.codes.values() for code in own}
        if isinstance(system, FromFile):
            path = hierarchy_file(configured, system.file)
            return file_tree(path, system.file, codes)
        return system_tree(system or "icd9cm", codes)

    def planned(self) -> Document:
        """Return what each k, and of GCCens each cap, would lose and risk."""
        k = self._declared.k
        found: list[Document] = []
        for number, tried in enumerate(tried_ks(k, len(self._records.patients)), 1):
            found.append(_choice(self._method, tried))
            self._context.progress("try k", number, None)
        told = {**self._counts(), "choices": found}
        if isinstance(self._method, CensoredCodes) and isinstance(
            self._declared.caps, int
        ):
            with suppress(ValueError):  # fewer than k people: no cap serves
                told["by_cap"] = self._method.by_cap(k)
        return told

    def written(self, folder: Path) -> Document:
        """Write the records; return what was lost and is risked.

        Raises:
            CommandRefusedError: There is no such copy.
            OSError: They cannot be written.
        """
        self._context.progress("anonymize", 0, len(self._records.patients))
        with refusing():
            made = self._made = self._method.made(self._declared.k)
        self._context.raise_if_stopped()
        rows = (
            (str(number), *row)
            for number, record in enumerate(made.records, 1)
            for row in record
        )
        write_private_rows(folder / RECORDS, ("record", *made.header), rows)
        empty = sum(not record for record in made.records)
        return {**self._counts(), "empty_records": empty, "measures": made.measures}

    def _counts(self) -> Document:
        return {
            "method": self._declared.method,
            "k": self._declared.k,
            **self._records.read.document(),
            "rows_incomplete": self._records.incomplete,
            "patients": len(self._records.patients),
        }

    def members(self) -> RawMembers | None:
        """Return whose each record is, and its cluster; None of GCCens."""
        held = None if self._made is None else self._made.members
        if held is None:
            return None
        patients = self._records.patients
        named = [patients[record] for record in held]
        return RawMembers(named, list(held.values()))

    def manifest(self) -> Document:
        """Return what was declared, and what breaks such copies."""
        return declared_manifest(self._declared, "codes", BROKEN_BY)

    def summary(self, counts: Counts) -> list[str]:
        """Return in sentences what the records are, lost and risk."""
        declared = self._declared
        told = counts["measures"]
        lost = "cul_mean" if declared.method == "gccens" else "lm_code"
        people = counted(len(self._records.patients), "patient")
        risk = f"prosecutor {told['prosecutor']}, marketer {told['marketer']}"
        return [
            f"codes of {people}, by {declared.method}: k {declared.k}",
            f"risk: {risk}; loss: {lost} {told[lost]}",
        ]


def _choice(method: CodesMethod, k: int) -> Document:
    try:
        told = method.made(k).measures
    except ValueError:
        return {"k": k, "is_possible": False}
    shown = {name: held for name, held in told.items() if not name.startswith("levels")}
    return {"k": k, "is_possible": True, **shown}
