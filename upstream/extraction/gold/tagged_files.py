"""Gold standards as texts with tags, a file for each document."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from upstream.extraction.gold.document_files import (
    Naming,
    text_of,
    write_documents,
)
from upstream.extraction.gold.outcomes import (
    GoldDocument,
    GoldError,
    Refused,
    gold_document,
)
from upstream.extraction.gold.tags import with_tags, without_tags
from upstream.extraction.text.documents import Place, TextDocument
from upstream.extraction.text.spans import AnnotatedDocument

SUFFIX = ".txt"
"""What the files' names end in; a document's id is its file's path without it."""


def read_tagged(
    folder: Path, *, id_pattern: str | None = None
) -> Iterator[GoldDocument | Refused]:
    """Yield the documents of a folder, and what was refused, in the order of paths.

    Args:
        folder: Holds the files, in folders of any depth.
        id_pattern: Gives documents fields, and ids, by their paths; see ``Naming``.
    """
    naming = Naming(id_pattern)
    for path in sorted(folder.rglob(f"*{SUFFIX}")):
        name = path.relative_to(folder).as_posix()
        document_id = name.removesuffix(SUFFIX)
        try:
            document_id, fields = naming.named(name)
            written, spans = without_tags(text_of(path))
            place = Place(name)
            document = TextDocument(
                document_id, written.text, place, written.pieces, fields
            )
            yield gold_document(document, spans)
        except GoldError as error:
            yield error.refused(name, document_id)


def write_tagged(
    documents: Iterable[AnnotatedDocument], folder: Path
) -> tuple[Refused, ...]:
    """Write documents into a folder; return those that tags cannot mark.

    ``read_tagged`` gives the same ids, texts and spans back.
    """
    return write_documents(documents, folder, _files)


def _files(annotated: AnnotatedDocument) -> dict[str, str]:
    text = with_tags(annotated.document.text, annotated.spans)
    return {SUFFIX: text}
