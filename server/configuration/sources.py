"""Where each setting comes from, printed without its secrets."""

import difflib
import os
from collections.abc import Mapping
from dataclasses import dataclass

from dotenv import dotenv_values
from pydantic import SecretStr

from budget.storage.postgresql import MASK, masked_url
from server.configuration.settings import (
    SETTINGS_FILE_VARIABLE,
    Settings,
    settings_file,
)

PREFIX = "CURATOR_"
NEAR = 0.75  # of two names, from 0 to 1
OTHERS_VARIABLES = frozenset(
    {
        *("CURATOR_URL", "CURATOR_API_KEY", "CURATOR_CONFIG"),  # the client's
        *("CURATOR_TEST_DATA", "CURATOR_GOLDEN"),  # the tests'
    }
)
"""Variables that others read; a shell may hold both kinds."""


@dataclass(frozen=True, slots=True)
class SettingLine:
    """One setting as it may be shown to anybody."""

    name: str
    value: str
    source: str  # "flag", "environment", "file <path>" or "default"


def setting_names() -> list[str]:
    """Return the variable of every setting, in the order of their declaration."""
    return [PREFIX + name.rstrip("_").upper() for name in Settings.model_fields]


def describe_settings(
    settings: Settings, flags: Mapping[str, object] | None = None
) -> list[SettingLine]:
    """Return every setting with its source; secrets and passwords are masked.

    Args:
        settings: As ``read_settings`` made them.
        flags: What the command line overrode, by field name; None overrode nothing.
    """
    environment = {name.upper() for name, value in os.environ.items() if value}
    file = file_values()
    given = {name for name, value in (flags or {}).items() if value is not None}
    lines = []
    for field, name in zip(Settings.model_fields, setting_names(), strict=True):
        if field in given:
            source = "flag"
        elif name in environment:
            source = "environment"
        elif name in file:
            source = f"file {settings_file()}"
        else:
            source = "default"
        lines.append(SettingLine(name, _shown(field, settings), source))
    return lines


def unknown_variables() -> list[str]:
    """Return a warning for each ``CURATOR_`` variable that is no setting."""
    known = {*setting_names(), SETTINGS_FILE_VARIABLE, *OTHERS_VARIABLES}
    found = {name.upper() for name in os.environ} | set(file_values())
    warnings = []
    for name in sorted(found - known):
        if name.startswith(PREFIX):
            nearest = difflib.get_close_matches(name, sorted(known), n=1, cutoff=NEAR)
            hint = f"; did you mean {nearest[0]}?" if nearest else ""
            warnings.append(f"{name} is no setting of this version{hint}")
    return warnings


def _shown(field: str, settings: Settings) -> str:
    value = settings.url if field == "database_url" else getattr(settings, field)
    if value is None or value == "":
        return "not set"
    if isinstance(value, SecretStr):
        return MASK
    if isinstance(value, bool):
        return "true" if value else "false"
    return masked_url(str(value)) if "://" in str(value) else str(value)


def file_values() -> dict[str, str]:
    """Return the settings of the file, by their variables' names."""
    path = settings_file()
    if not path.is_file():
        return {}
    return {name.upper(): value for name, value in dotenv_values(path).items() if value}
