"""YAML and JSON read so that every scalar keeps its text and every node its place."""

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

from engines.regular_files import FileTooLargeError, read_at_most
from upstream.errors import ManifestError, Problem

Plain = str | int | bool | None | list["Plain"] | dict[str, "Plain"]
Place = tuple[str | int, ...]
Places = dict[Place, tuple[int, int]]

_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,30}")

MAX_BYTES = 2**20
MAX_NODES = 100_000
MAX_DEPTH = 50  # lists and mappings inside one another; a manifest needs ten
KEY = -1  # ends the path of a key itself, as against its value
_TOO_MANY = f"the manifest has more than {MAX_NODES} nodes"
_TOO_DEEP = f"the manifest has more than {MAX_DEPTH} levels: write them out"


_FastLoader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Written in C, ten times as fast; PyYAML built without its library has none."""


class _ExactLoader(_FastLoader):  # type: ignore[misc, valid-type] # either is a loader
    """Reads true, false, null and plain integers; all else stays the text it is.

    So ``no``, ``007``, ``0.10`` and ``2024-01-31`` mean what they look like.
    """

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - the base class declares it as an instance attribute


for _tag, _pattern, _first in (
    ("bool", r"(?:true|false)\Z", "tf"),
    ("int", r"(?:0|-?[1-9][0-9]{0,30})\Z", "-0123456789"),
    ("null", r"(?:~|null|)\Z", ["~", "n", ""]),
):
    _ExactLoader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}", re.compile(_pattern), list(_first)
    )


@dataclass(frozen=True, slots=True)
class FileDigest:
    """Which bytes a file had: their sha256, in hexadecimal digits, and their number."""

    sha256: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class YamlFile:
    """What a YAML file said at the one time that it was read.

    Attributes:
        content: Its plain content.
        places: Line and column (from 1) of every node.
        facts: Its bytes.
    """

    content: Plain
    places: Places
    facts: FileDigest


def read_yaml(path: Path, *, within: Path | None = None) -> YamlFile:
    """Return the file's content, read once.

    Args:
        path: The file.
        within: As of ``engines.regular_files.opened``.

    Raises:
        ManifestError: The file is not one plain YAML document, or repeats a key.
    """
    text = _bytes_of(path, within)
    facts = FileDigest(hashlib.sha256(text).hexdigest(), len(text))
    try:
        content, places = _parsed(path, text.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise _refusal(path, None, "save the manifest as UTF-8") from error
    except yaml.YAMLError as error:
        raise _yaml_refusal(path, error) from error
    return YamlFile(content, places, facts)


def _bytes_of(path: Path, within: Path | None) -> bytes:
    try:
        return read_at_most(path, MAX_BYTES, within=within)
    except FileTooLargeError as error:
        sentence = "the manifest is larger than one mebibyte"
        raise _refusal(path, None, sentence) from error
    except OSError as error:
        raise _refusal(path, None, f"cannot be read: {error.strerror}") from error


def _parsed(path: Path, text: str) -> tuple[Plain, Places]:
    _check_size(path, text)
    node = yaml.compose(text, Loader=_ExactLoader)
    if node is None:
        raise _refusal(path, None, "the file is empty")
    reader = _Reader(path)
    content = reader.read(node, ())
    if reader.problems:
        raise ManifestError(tuple(reader.problems))
    return content, reader.places


def _check_size(path: Path, text: str) -> None:
    """Refuse a text with too many nodes, or too deep a one, before it is composed.

    Composing calls itself once a level, in C, where nothing stops it; and the time to
    scan a text grows with its length times its depth.
    """
    depth = nodes = 0
    for event in yaml.parse(text, Loader=_ExactLoader):
        nodes += isinstance(event, yaml.NodeEvent)
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if nodes > MAX_NODES:
            raise _refusal(path, event, _TOO_MANY)
        if depth > MAX_DEPTH:
            raise _refusal(path, event, _TOO_DEEP)


def read_json(text: str) -> Plain:
    """Return the content of a JSON manifest; numbers with a point stay text.

    Raises:
        ManifestError: The text is not JSON, or repeats a key.
    """
    try:
        content: Plain = json.loads(
            text, parse_float=str, parse_constant=str, object_pairs_hook=_without_twins
        )
    except ValueError as error:
        raise _refusal(Path("manifest.json"), None, f"not JSON: {error}") from error
    return content


def _without_twins(pairs: list[tuple[str, Plain]]) -> dict[str, Plain]:
    if len(dict(pairs)) != len(pairs):
        message = "a key stands twice in one object"
        raise ValueError(message)
    return dict(pairs)


class _Reader:
    """Turns nodes into plain content, noting places and problems on the way."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.places: Places = {}
        self.problems: list[Problem] = []
        self._open: list[yaml.Node] = []

    def read(self, node: yaml.Node, at: Place) -> Plain:
        self._note(node, at)
        if len(self._open) > MAX_DEPTH:  # by aliases of aliases
            raise _refusal(self.path, node, _TOO_DEEP)
        if any(node is above for above in self._open):
            raise _refusal(self.path, node, "an alias points into itself: write it out")
        self._open.append(node)
        try:
            return self._content(node, at)
        finally:
            self._open.pop()

    def _note(self, node: yaml.Node, at: Place) -> None:
        mark = node.start_mark
        self.places[at] = (mark.line + 1, mark.column + 1)
        if len(self.places) > MAX_NODES:
            raise _refusal(self.path, node, _TOO_MANY)

    def _content(self, node: yaml.Node, at: Place) -> Plain:
        if isinstance(node, yaml.MappingNode):
            return {key: self.read(v, (*at, key)) for key, v in self._pairs(node, at)}
        if isinstance(node, yaml.SequenceNode):
            return [self.read(v, (*at, i)) for i, v in enumerate(node.value)]
        return self._scalar(node)

    def _pairs(
        self, node: yaml.MappingNode, at: Place
    ) -> Iterator[tuple[str, yaml.Node]]:
        seen: set[str] = set()
        for key, value in node.value:
            text = key.value if isinstance(key, yaml.ScalarNode) else None
            if text is None:
                self._problem(key, "a key must be one word")
            elif text in seen:
                self._problem(key, f"the key {text!r} stands twice: keep one of them")
            else:
                seen.add(text)
                yield text, value
                self.places[(*at, text, KEY)] = _place(key)

    def _scalar(self, node: yaml.Node) -> Plain:
        text = str(node.value)
        readings: dict[str, Plain] = {"bool": text == "true", "null": None, "str": text}
        kind = node.tag.rpartition(":")[2]
        if kind == "int" and _INTEGER.fullmatch(text):
            return int(text)
        if kind not in readings:
            self._problem(node, f"the tag {node.tag} means nothing here: remove it")
        return readings.get(kind)

    def _problem(self, node: yaml.Node, sentence: str) -> None:
        self.problems.append(Problem(str(self.path), *_place(node), sentence))


def _place(node: yaml.Node | yaml.Event) -> tuple[int, int]:
    mark = node.start_mark
    return (1, 1) if mark is None else (mark.line + 1, mark.column + 1)


def _refusal(
    path: Path, node: yaml.Node | yaml.Event | None, sentence: str
) -> ManifestError:
    line, column = _place(node) if node is not None else (None, None)
    return ManifestError((Problem(str(path), line, column, sentence),))


def _yaml_refusal(path: Path, error: yaml.YAMLError) -> ManifestError:
    mark = getattr(error, "problem_mark", None)
    line, column = (mark.line + 1, mark.column + 1) if mark else (None, None)
    reason = getattr(error, "problem", None) or "the text is not YAML"
    sentence = f"not YAML: {reason}; check indentation and quotes here"
    return ManifestError((Problem(str(path), line, column, sentence),))
