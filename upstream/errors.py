"""Refusals of the custodian's jobs: every problem at once, each with its place.

MissingLibraryError     refused
IngestionError          ingestion_refused
└── ManifestError       manifest_refused
"""

from dataclasses import dataclass

from privacy.errors import CuratorError


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing to mend, for the custodian's eyes.

    Attributes:
        file: The file, as the custodian named it.
        line: Line from 1, or None where lines do not exist (Parquet).
        column: Character from 1 in a manifest, field from 1 in a CSV, or None.
        sentence: What is wrong and what to do; it never quotes a value of the data.
    """

    file: str
    line: int | None
    column: int | None
    sentence: str

    def __str__(self) -> str:
        """Write the problem as compilers do: place, then sentence."""
        places = [str(p) for p in (self.line, self.column) if p is not None]
        return ":".join([self.file, *places]) + ": " + self.sentence


class MissingLibraryError(CuratorError):
    """A library that few installations need is not installed; nothing was done."""

    code = "refused"

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(
            f"this needs {name}, which is not installed here: build the image with "
            "--build-arg MODELS=yes, or in the folder of Curator's source type 'pip "
            "install --require-hashes -r requirements/app.txt'"
        )


class IngestionError(CuratorError):
    """The load was refused; nothing was written."""

    code = "ingestion_refused"

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        self.problems = problems
        super().__init__("\n".join(str(problem) for problem in problems))


class ManifestError(IngestionError):
    """The manifest itself was refused, before any data file was opened."""

    code = "manifest_refused"
