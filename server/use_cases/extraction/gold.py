"""Gold standards from files, one document at a time."""

from collections.abc import Iterator
from pathlib import Path

from server.use_cases.extraction.declarations import GoldFiles
from server.use_cases.extraction.store.bodies import SetAside
from server.use_cases.services.errors import CommandRefusedError
from upstream.extraction.gold.brat import read_brat
from upstream.extraction.gold.json_spans import read_json_spans
from upstream.extraction.gold.outcomes import GoldDocument, Refused
from upstream.extraction.gold.tagged_files import read_tagged

_ELSEWHERE = "the gold standard is not there, or does not lie under CURATOR_IMPORT"
REFUSED = "refused_gold"
"""The reason of documents of a gold standard that were set aside."""


def read_gold(gold: GoldFiles, folder: Path) -> Iterator[GoldDocument | SetAside]:
    """Yield the documents of a gold standard, in an order that never changes.

    Args:
        gold: Its declaration.
        folder: The import folder, without links.

    Raises:
        CommandRefusedError: It is not there, or a part of it lies elsewhere.
    """
    path = _located(gold, folder)
    for found in _items(gold, path):
        if isinstance(found, Refused):
            yield _set_aside(found)
        elif not all(map(is_storable, (found.document.id, *_labels(found)))):
            sentence = "its id or a type has a zero character: mend it"
            place = found.document.place
            yield SetAside("", place.file, place.item, REFUSED, sentence)
        else:
            yield found


def _items(gold: GoldFiles, path: Path) -> Iterator[GoldDocument | Refused]:
    match gold.format:
        case "brat":
            return read_brat(path, split=gold.split, id_pattern=gold.id_pattern)
        case "json":
            return read_json_spans(path)
        case "tags":
            return read_tagged(path, id_pattern=gold.id_pattern)


def _located(gold: GoldFiles, folder: Path) -> Path:
    """Return where a gold standard lies; nothing of it may be a link to elsewhere.

    Raises:
        CommandRefusedError: It is not there, or something is.
    """
    try:
        path = (folder / gold.path).resolve()
        is_there = path.is_file() if gold.format == "json" else path.is_dir()
    except (OSError, RuntimeError):
        raise CommandRefusedError(_ELSEWHERE) from None
    if not is_there or not path.is_relative_to(folder):
        raise CommandRefusedError(_ELSEWHERE)
    for one in path.rglob("*"):
        if one.is_symlink() and not one.resolve().is_relative_to(folder):
            message = f"{_ELSEWHERE}: a link in it leads out of that folder"
            raise CommandRefusedError(message)
    return path


def _labels(found: GoldDocument) -> Iterator[str]:
    return (span.label for span in found.spans)


def is_storable(name: str) -> bool:
    """Whether every database can hold a name."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in name


def _set_aside(found: Refused) -> SetAside:
    item = "" if found.line is None else f"line {found.line}"
    return SetAside(found.document, found.file, item, REFUSED, str(found))
