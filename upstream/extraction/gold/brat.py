"""Gold standards in brat's standoff format: a .txt and a .ann for each document."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from engines.regular_files import read_at_most
from upstream.extraction.gold.brat_lines import line_of, read_lines, spans_of
from upstream.extraction.gold.document_files import (
    MOST_BYTES,
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
from upstream.extraction.text.documents import Place, TextDocument
from upstream.extraction.text.spans import AnnotatedDocument


def read_brat(
    folder: Path, *, split: bool = False, id_pattern: str | None = None
) -> Iterator[GoldDocument | Refused]:
    """Yield the documents of a folder, and what was refused, in the order of paths.

    A document's id is its path under the folder, without ``.txt``. Notes, attributes,
    relations and events are counted, not read.

    Args:
        folder: Holds the files, in folders of any depth.
        split: Whether a span of several parts is read as several spans, instead of
            refusing its document.
        id_pattern: Gives documents fields, and ids, by their paths; see ``Naming``.
    """
    naming = Naming(id_pattern)
    for path in sorted(folder.rglob("*.txt")):
        name = path.relative_to(folder).as_posix()
        yield _read(path, name, naming, split=split)
    for path in sorted(folder.rglob("*.ann")):
        if not path.with_suffix(".txt").exists():
            name = path.relative_to(folder).as_posix()
            document = name.removesuffix(".ann")
            sentence = "its text is missing: put the .txt beside it"
            yield Refused(name, document, None, None, sentence)


def write_brat(
    documents: Iterable[AnnotatedDocument], folder: Path
) -> tuple[Refused, ...]:
    """Write documents into a folder; return those that the format cannot hold.

    ``read_brat`` gives the same ids, texts and spans back.
    """
    return write_documents(documents, folder, _files)


def _read(
    path: Path, name: str, naming: Naming, *, split: bool
) -> GoldDocument | Refused:
    document_id = plain = name.removesuffix(".txt")
    file = name
    try:
        document_id, fields = naming.named(name)
        written = text_of(path)
        document = TextDocument(
            document_id, written.text, Place(name), written.pieces, fields
        )
        file = f"{plain}.ann"
        try:
            raw = read_at_most(path.with_suffix(".ann"), MOST_BYTES)
            content = raw.decode("utf-8-sig")
        except FileNotFoundError:
            sentence = "is missing: put it beside its text, empty if nothing is marked"
            raise GoldError(sentence) from None
        except OSError as error:
            sentence = f"cannot be read: {error.strerror}"
            raise GoldError(sentence) from None
        except UnicodeDecodeError as error:
            sentence = f"not UTF-8 at byte {error.start}"
            raise GoldError(sentence) from None
        marked, ignored = read_lines(content)
        has_mark = bool(written.pieces) and written.pieces[0].original > 0
        spans = spans_of(marked, document.text, split=split, has_mark=has_mark)
        return gold_document(document, spans, ignored)
    except GoldError as error:
        return error.refused(file, document_id)


def _files(annotated: AnnotatedDocument) -> dict[str, str]:
    """Return what is written, by the files' suffixes.

    Raises:
        GoldError: The format cannot hold it.
    """
    text = annotated.document.text
    lines = (line_of(n, span, text) for n, span in enumerate(annotated.spans, 1))
    return {".txt": text, ".ann": "".join(lines)}
