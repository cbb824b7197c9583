"""YAML and JSON read so that every scalar keeps its text and every node its place."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import yaml

from upstream.errors import ManifestError, Problem

Plain = str | int | bool | None | list["Plain"] | dict[str, "Plain"]
Place = tuple[str | int, ...]
Places = dict[Place, tuple[int, int]]

_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,30}")

MAX_BYTES = 2**20
MAX_NODES = 100_000
KEY = -1  # ends the path of a key itself, as against its value


class _ExactLoader(yaml.SafeLoader):
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


def read_yaml(path: Path) -> tuple[Plain, Places]:
    """Return the file's content and the line and column (from 1) of every node.

    Raises:
        ManifestError: The file is not one plain YAML document, or repeats a key.
    """
    try:
        text = path.read_bytes()
        if len(text) > MAX_BYTES:
            raise _refusal(path, None, "the manifest is larger than one mebibyte")
        node = yaml.compose(text.decode("utf-8-sig"), Loader=_ExactLoader)
    except OSError as error:
        raise _refusal(path, None, f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise _refusal(path, None, "save the manifest as UTF-8") from error
    except yaml.YAMLError as error:
        raise _yaml_refusal(path, error) from error
    if node is None:
        raise _refusal(path, None, "the file is empty")
    reader = _Reader(path)
    content = reader.read(node, ())
    if reader.problems:
        raise ManifestError(tuple(reader.problems))
    return content, reader.places


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
            sentence = f"the manifest has more than {MAX_NODES} nodes"
            raise _refusal(self.path, node, sentence)

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


def _place(node: yaml.Node) -> tuple[int, int]:
    return node.start_mark.line + 1, node.start_mark.column + 1


def _refusal(path: Path, node: yaml.Node | None, sentence: str) -> ManifestError:
    line, column = _place(node) if node is not None else (None, None)
    return ManifestError((Problem(str(path), line, column, sentence),))


def _yaml_refusal(path: Path, error: yaml.YAMLError) -> ManifestError:
    mark = getattr(error, "problem_mark", None)
    line, column = (mark.line + 1, mark.column + 1) if mark else (None, None)
    reason = getattr(error, "problem", None) or "the text is not YAML"
    sentence = f"not YAML: {reason}; check indentation and quotes here"
    return ManifestError((Problem(str(path), line, column, sentence),))
