"""A group of commands whose modules are read when one of their commands is named."""

import gc
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

Told = tuple[str, str]
"""A command's module, whose ``cli`` holds it, and the sentence of the list."""


def lazy_group(commands: Mapping[str, Told]) -> type[TyperGroup]:
    """Return the class of a group of these commands."""

    class LazyGroup(_LazyGroup):
        told = commands

    return LazyGroup


class _LazyGroup(TyperGroup):
    told: Mapping[str, Told]
    _is_listing = False

    def list_commands(self, _: object) -> list[str]:
        """Return the names in the order of the list."""
        return list(self.told)

    # What typer hands on is click's, of which it has a copy of its own.
    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401
        """Return a command; while a list of them is printed, its sentence alone."""
        if cmd_name not in self.told:
            return None
        module, sentence = self.told[cmd_name]
        if self._is_listing:
            return TyperCommand(cmd_name, help=sentence)
        family: Any = get_command(_read(module).cli)
        is_group = cmd_name in getattr(family, "commands", {})
        return family.get_command(ctx, cmd_name) if is_group else family

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401
        """Print the list without reading any module."""
        self._is_listing = True
        try:
            super().format_help(ctx, formatter)
        finally:
            self._is_listing = False


def _read(module: str) -> Any:  # noqa: ANN401 - any family's
    """Return a module: what is read stays, so nothing of it is looked for as garbage.

    Looked through again and again, two thousand modules take a fifth longer.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return import_module(module)
    finally:
        if was_enabled:
            gc.enable()
