"""What a snapshot shows to everybody, whole: what an approval of an overlap binds to.

The rows are read elsewhere (``upstream.ingestion.public_rows``): no thread of a server
does.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from budget.chain.entries import canonical_json
from privacy.coincidences import coinciding_places, names_in_files
from privacy.schema_json import JsonObject
from server.use_cases.approvals.changes import Altered, Subject


@dataclass(frozen=True, slots=True)
class Shown:
    """What a snapshot shows to everybody.

    Attributes:
        declared: The SHA-256 of all that is declared.
        tables: Each public table's number of rows and their SHA-256, in words.
    """

    declared: str
    tables: Mapping[str, str] = field(default_factory=dict)

    def digest(self) -> str:
        """Return the SHA-256 of all of it."""
        return _sha256({"declared": self.declared, "tables": dict(self.tables)})

    def altered(self, dataset: str, before: "Shown | None") -> tuple[Altered, ...]:
        """Return what is shown otherwise than before, in words that people approve."""
        old, new = ({} if one is None else one.facts() for one in (before, self))
        return tuple(
            Altered(
                f"{_words(table)} of {dataset}",
                old.get(table),
                new.get(table),
                Subject("public_rows", dataset, table) if table else None,
            )
            for table in sorted({*old, *new}, key=_words)
            if old.get(table) != new.get(table)
        )

    def facts(self) -> dict[str, str]:
        """Return the rows of each public table, and under no name what is declared."""
        return {"": f"sha256 {self.declared}", **self.tables}


def _words(table: str) -> str:
    return f"public table {table}" if table else "names, lists and hierarchies"


def declared_digest(schema: JsonObject, manifest: JsonObject) -> str:
    """Return the SHA-256 of what is declared, as far as everybody may read it.

    Names, lists, hierarchies, what files call columns, and which numbers are declared
    to be no unit ids; not which files are read, and no rows, which have their own.
    """
    listed = schema["tables"]
    tables = [
        {key: value for key, value in table.items() if key != "rows"}
        for table in (listed if isinstance(listed, list) else [])
    ]
    told = {
        "schema": {**schema, "tables": tables},
        "headers": names_in_files(manifest),
        "coinciding": sorted(coinciding_places(manifest)),
    }
    return _sha256(told)


def _sha256(content: Mapping[str, object]) -> str:
    return hashlib.sha256(canonical_json(content).encode()).hexdigest()
