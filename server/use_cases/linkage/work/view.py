"""The identifier view: per patient what names them, may, or is what nobody is to learn.

Each value has its lineage: a row of a file, or the characters of a document. Source:
HIDE's identifier view (Gardner and Xiong 2009).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from server.use_cases.linkage.work.declarations import Linkage
from server.use_cases.linkage.work.texts import Known, TextRows
from upstream.extraction.models.union import Risk
from upstream.linkage.registers.register import Register
from upstream.linkage.registers.tables import Rows
from upstream.linkage.sources import Attribute, TableSource

_BATCH: Final = 20_000
_BY_RISK: Final[Mapping[Risk, Attribute]] = {
    Risk.DIRECT: "identifier",
    Risk.INDIRECT: "quasi_identifier",
    Risk.HEALTH: "sensitive",
}
_COLUMNS: Final = {
    "key": "BIGINT",
    "record": "INTEGER",
    "class": "VARCHAR",
    "attribute": "VARCHAR",
    "value": "VARCHAR",
    "source": "VARCHAR",
    "id": "VARCHAR",
    "file": "VARCHAR",
    "place": "VARCHAR",
    "start": "BIGINT",
    "end": "BIGINT",
    "finder": "VARCHAR",
}


class ViewWriter:
    """Writes the identifier view of a settled register."""

    def __init__(self, register: Register, declared: Linkage) -> None:
        self._register = register
        self._declared = declared

    def write(
        self,
        rows: Sequence[Rows],
        texts: Sequence[TextRows],
        known: Mapping[str, Known],
    ) -> None:
        """Write it anew.

        Args:
            rows: Of each source.
            texts: The sources of texts.
            known: What the loop found in each.
        """
        self._register.connection.execute("DELETE FROM identifier")
        by_name = {one.source: one for one in rows}
        for source in self._declared.tables:
            self._write_table(source, by_name[source.name])
        for one in texts:
            self._write_texts(one, known[one.source.name])

    def _write_table(self, source: TableSource, rows: Rows) -> None:
        told: list[tuple[str, Attribute, str]] = [
            (column, self._declared.attribute(field), field)
            for field in source.fields
            for column in source.columns_of(field)
        ]
        told += [(column, kind, column) for column, kind in source.view.items()]
        for column, kind, name in told:
            value = f"nullif(trim({rows.column(column)}), '')"
            self._register.connection.execute(
                "INSERT INTO identifier SELECT key, number, ?, ?, value, ?, id, "  # noqa: S608 - names of ours
                "arg_min(file, row), CAST(arg_min(place, row) AS VARCHAR), NULL, NULL, "
                f"NULL FROM (SELECT *, {value} AS value FROM {rows.table}) AS told "
                "JOIN (SELECT number, id FROM record) AS known "
                "ON known.number = told.record JOIN standing USING (number) "
                "WHERE value IS NOT NULL GROUP BY key, number, value, id",
                [kind, name, source.name],
            )

    def _write_texts(self, texts: TextRows, known: Known) -> None:
        batch: list[tuple[object, ...]] = []
        for row in self._of_texts(texts, known):
            batch.append(row)
            if len(batch) == _BATCH:
                self._insert(batch)
                batch = []
        self._insert(batch)

    def _of_texts(self, texts: TextRows, known: Known) -> Iterator[tuple[object, ...]]:
        source = texts.source
        keys = keys_of_documents(self._register, source.name)
        records = _records_of_documents(self._register, source.name)
        fields = [(one.name, one.field) for one in source.fields if one.field]
        for one, spans in texts.documents(known):
            key = keys.get(one.number)
            if key is None:
                continue
            document, record = one.document, records[one.number]
            place = document.id, document.place.file, document.place.item or None
            for name, field in fields:
                if value := document.fields.get(field, "").strip():
                    kind = self._declared.attribute(name)
                    said = (key, record, kind, name, value, source.name, *place)
                    yield (*said, None, None, None)
            for span in spans:
                kind = _BY_RISK[texts.risk(span.label)]
                value = document.text[span.start : span.end]
                said = (key, record, kind, span.label, value, source.name, *place)
                yield (*said, span.start, span.end, span.source)

    def _insert(self, batch: Sequence[tuple[object, ...]]) -> None:
        if not batch:
            return
        values = zip(*batch, strict=True)
        self._register.insert(
            "identifier",
            {
                name: (kind, column)
                for (name, kind), column in zip(_COLUMNS.items(), values, strict=True)
            },
        )


def keys_of_documents(register: Register, source: str) -> dict[int, int]:
    """Return the unit keys of a source's documents, by their numbers."""
    rows = register.connection.execute(
        f"SELECT row, key FROM {Rows(source).table} "  # noqa: S608 - a declared identifier
        "JOIN standing ON standing.number = record"
    ).fetchall()
    return {int(row): int(key) for row, key in rows}


def _records_of_documents(register: Register, source: str) -> dict[int, int]:
    """Return the numbers of the records of a source's documents, by theirs."""
    rows = register.connection.execute(
        f"SELECT row, record FROM {Rows(source).table} WHERE record IS NOT NULL"  # noqa: S608 - a declared identifier
    ).fetchall()
    return {int(row): int(record) for row, record in rows}
