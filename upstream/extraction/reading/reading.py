"""Documents of a declared source, one at a time."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from upstream.errors import IngestionError, Problem
from upstream.extraction.reading.families.column_files import read_column_files
from upstream.extraction.reading.families.databases import read_database
from upstream.extraction.reading.families.fhir import read_fhir_files
from upstream.extraction.reading.families.hl7 import read_hl7_files
from upstream.extraction.reading.families.text_files import read_text_files
from upstream.extraction.reading.families.xml_notes import read_xml_files
from upstream.extraction.reading.judging import judged
from upstream.extraction.reading.outcomes import (
    Candidate,
    Position,
    Quarantined,
    ReadDocument,
)
from upstream.extraction.reading.seen_ids import SeenIds
from upstream.extraction.reading.specs import SourceSpec

_Reader = Callable[[Any, Path, Position | None], Iterator[Candidate]]
_READERS: dict[str, _Reader] = {
    "text": read_text_files,
    "columns": read_column_files,
    "database": read_database,
    "hl7": read_hl7_files,
    "fhir": read_fhir_files,
    "xml": read_xml_files,
}


def read_documents(
    source: SourceSpec,
    import_folder: Path,
    *,
    after: Position | None = None,
    seen: SeenIds | None = None,
) -> Iterator[ReadDocument | Quarantined]:
    """Yield what a source holds, document by document, in an order that never changes.

    What cannot be read is yielded as set aside; nothing is lost, and reading goes on
    behind it. At most one document is held at a time, and never a whole source.

    Args:
        source: Its declaration.
        import_folder: What no file may lie outside of.
        after: Goes on behind the document that has this position.
        seen: The ids so far; a job keeps them in a file and saves it before each
            position, so that duplicates are known after it went on. Without it they
            are those of this reading.

    Raises:
        IngestionError: The source names nothing or holds no text at all, its database
            cannot be read, or a file changed since the reading stopped in it.
    """
    known = SeenIds() if seen is None else seen
    is_some = after is not None
    try:
        for candidate in _READERS[source.kind](source, import_folder, after):
            is_some = True
            yield judged(candidate, source.max_characters, known)
    finally:
        if seen is None:
            known.close()
    if not is_some:
        sentence = "the source holds no texts: look at what it declares"
        raise IngestionError((Problem(source.name, None, None, sentence),))
