"""Imports every module of ours in an environment, and every module that they name.

python -I imports.py SITE_PACKAGES

Whatever is missing and not optional is an error. What was imported has its bytecode
from then on: an image's root is read-only, and nothing can be compiled later.
"""

import ast
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

OURS = (
    "privacy", "query_lang", "mechanisms", "budget", "engines", "release", "upstream",
    "server", "curator_client",
)  # fmt: skip
OPTIONAL = {
    "IPython", "httpx2", "matplotlib", "pandas", "polars", "pyarrow",  # of clients
    "psycopg", "psycopg_binary", "pyrage",  # of PostgreSQL and encrypted backups
    "scipy", "sklearn",  # of models
}  # fmt: skip
BY_NAME = (
    "psycopg", "sqlalchemy.dialects.postgresql.psycopg", "psycopg_binary.pq",
    "sqlalchemy.dialects.sqlite.pysqlite", "uvicorn.lifespan.on",
    "uvicorn.loops.auto", "uvicorn.protocols.http.h11_impl",
)  # fmt: skip
"""Read by libraries, by names in texts; PostgreSQL's driver is optional."""


RUN_ALONE = {"server.persistence.migrations.env"}  # within a migration


def modules_of(site: Path) -> Iterator[tuple[str, Path]]:
    """Yield our modules' names and files."""
    for package in OURS:
        for path in sorted((site / package).rglob("*.py")):
            parts = path.relative_to(site).with_suffix("").parts
            yield ".".join(part for part in parts if part != "__init__"), path


def named_in(path: Path) -> set[str]:
    """Return the modules that a file imports anywhere, also within functions.

    What stands under ``if TYPE_CHECKING`` is read by type checkers alone.
    """
    found = set[str]()
    waiting: list[ast.AST] = [ast.parse(path.read_text("utf-8"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module)
        elif isinstance(node, ast.If) and _is_of_types(node.test):
            waiting += node.orelse
            continue
        waiting += ast.iter_child_nodes(node)
    return found


def _is_of_types(test: ast.expr) -> bool:
    return isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"


def missing_of(names: set[str]) -> dict[str, str]:
    """Return the modules that cannot be imported, each with the reason.

    What lacks an optional library, itself or by what it imports, is not among them.
    """
    wrong = {}
    for name in sorted(names):
        try:
            import_module(name)
        except ImportError as error:
            if (error.name or "").partition(".")[0] not in OPTIONAL:
                wrong[name] = str(error).strip().rpartition("\n")[2]
    return wrong


def main(site: Path) -> int:
    """Import all; 1 where something that is not optional is missing."""
    ours = dict(modules_of(site))
    alone = RUN_ALONE | {name for name in ours if name.endswith("__main__")}
    named = set[str]().union(*map(named_in, ours.values()))
    wrong = missing_of({*ours, *named, *BY_NAME} - alone)
    for name, reason in wrong.items():
        print(f"{name}: {reason}", flush=True)  # noqa: T201 - a tool's own words
    print(f"{len(ours)} modules of ours, {len(named)} that they name")  # noqa: T201
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
