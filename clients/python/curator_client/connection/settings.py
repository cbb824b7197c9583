"""Where the server is and who asks: arguments, environment, configuration file."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from curator_client.tables.exports import optional

_ENVIRONMENT = {"url": "CURATOR_URL", "key": "CURATOR_API_KEY"}
_NAMES = ("url", "key", "dataset", "project", "ca_file")


@dataclass(frozen=True, repr=False)
class Settings:
    """What a connection needs to know."""

    url: str
    key: str
    dataset: str | None = None
    project: str | None = None
    ca_file: str | None = None


def read_settings(say: Callable[[str], None], **given: str | None) -> Settings:
    """Read each setting: the argument, else the environment, else the file.

    Args:
        say: Told where the file can be read by others.
        given: Arguments by name; None where left out.

    Raises:
        ValueError: No address or no key is known, or the file does not read.
    """
    stored = _read_file(say)
    named = {name: given.get(name) or _ambient(name, stored) for name in _NAMES}
    url, key = named.pop("url"), named.pop("key")
    if not url or not key:
        message = (
            "give url and key, or set CURATOR_URL and CURATOR_API_KEY, or write them "
            f"into {config_path()}"
        )
        raise ValueError(message)
    key = key.strip()
    if not key.isascii() or not key.isprintable() or " " in key:
        message = "the key is none: keys are of letters, digits and _, without spaces"
        raise ValueError(message)
    return Settings(url.strip(), key, **named)


def _ambient(name: str, stored: dict[str, str]) -> str | None:
    return os.environ.get(_ENVIRONMENT.get(name, "")) or stored.get(name)


def config_path() -> Path:
    """Return where the configuration file is, or would be."""
    named = os.environ.get("CURATOR_CONFIG")
    if named:
        return Path(named).expanduser()
    folder = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    return Path(folder).expanduser() / "curator" / "client.toml"


def _read_file(say: Callable[[str], None]) -> dict[str, str]:
    """Read the file, where there is one."""
    path = config_path()
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        if os.environ.get("CURATOR_CONFIG"):
            message = f"CURATOR_CONFIG: {path} cannot be read ({error.strerror})"
            raise ValueError(message) from error
        return {}
    if os.name == "posix" and path.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH):
        say(f"warning: {path} holds your key and others can read it: chmod 600 it")
    return _checked(_toml(text, path), path)


def _toml(text: str, path: Path) -> dict[str, Any]:
    try:
        import tomllib  # noqa: PLC0415 - of Python 3.11
    except ModuleNotFoundError:
        tomllib = optional("tomli", f"reading {path} with Python 3.10")
    try:
        found: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message = f"{path}: {error}"
        raise ValueError(message) from error
    return found


def _checked(found: dict[str, Any], path: Path) -> dict[str, str]:
    for name, value in found.items():
        if name not in _NAMES or not isinstance(value, str):
            message = f"{path}: {name} is no setting; known: {', '.join(_NAMES)}"
            raise ValueError(message)
    return found
