"""List the public functions and methods whose body no test runs.

Run: ``python -m tests.mutants.uncalled [PYTEST ARGUMENTS]``. Works on a copy of the
tree in which each of them notes its first call in every process, so that commands,
servers and workers that tests start are followed too, and those that they kill. Exit
code 1 if one is never called. Tests of the tree itself may fail in the copy.
"""

import ast
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.mutants.run import environment_of, make_copy

PACKAGES = (
    *("privacy", "query_lang", "mechanisms", "budget", "engines", "release"),
    *("upstream", "server", "clients/python/curator_client"),
)
NOTING = '''"""Note which functions are called."""

_seen = set()


def note(name):
    if name not in _seen:
        _seen.add(name)
        try:
            with open({called!r}, "a") as called:
                called.write(name + "\\n")
        except OSError:  # a process that may not open files
            pass
'''
BEFORE_THE_PATH = {"start_module.py"}  # runs before the copy can be imported
ALL_TESTS = (
    *("-n", "auto", "--dist", "loadfile", "-m", "not long"),
    "--continue-on-collection-errors",
)


@dataclass(frozen=True)
class Function:
    """One public function: where its file is, and where its first statement."""

    file: str
    name: str
    line: int
    column: int

    @property
    def mark(self):
        """What the copy writes down when it is called."""
        return f"{self.file}:{self.line}: {self.name}"


def main() -> int:
    """Run the tests on a marked copy and print what they never called."""
    with tempfile.TemporaryDirectory() as name:
        copy = make_copy(Path(name))
        functions = mark(copy, copy / "called.txt")
        subprocess.run(
            [sys.executable, "-m", "pytest", "-q", *(sys.argv[1:] or ALL_TESTS)],
            cwd=copy,
            env=environment_of(copy),
            check=False,
        )
        called = set((copy / "called.txt").read_text().splitlines())
    uncalled = [each.mark for each in functions if each.mark not in called]
    print(*uncalled, sep="\n")
    print(f"{len(uncalled)} of {len(functions)} public functions are never called")
    return 1 if uncalled else 0


def mark(copy, called):
    """Let each public function in a copy note its calls in a file; return them all."""
    called.touch()
    functions = []
    for package in PACKAGES:
        folder = copy / package
        for path in sorted(folder.rglob("*.py")):
            text = path.read_text("utf-8")
            if path.name in BEFORE_THE_PATH:
                continue
            found = public_functions(text, str(path.relative_to(copy)))
            if found:
                path.write_text(marked(text, found, folder.name), "utf-8")
            functions += found
        (folder / "noted_calls.py").write_text(NOTING.format(called=str(called)))
    return functions


def public_functions(text, file):
    """Return the functions and methods without an underscore that have a body."""
    return [
        Function(file, name, _first_line(body), body.col_offset)
        for name, body in _bodies(ast.parse(text), "")
    ]


def _bodies(parent, prefix):
    """Yield name and first statement; no protocol's, no overload's, no abstract one."""
    for node in parent.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from _bodies(node, f"{prefix}{node.name}.")
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            body = [each for each in node.body if not _only_says(each)]
            if body and not node.name.startswith("_") and not _is_abstract(node):
                yield f"{prefix}{node.name}", body[0]


def _first_line(statement):
    decorators = getattr(statement, "decorator_list", [])
    return min(each.lineno for each in (statement, *decorators))


def _only_says(statement):
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _is_abstract(function):
    return any("abstract" in ast.unparse(each) for each in function.decorator_list)


def marked(text, functions, package):
    """Return a module's text with a note as the first statement of each function."""
    lines = text.encode().splitlines(keepends=True)
    for each in functions:
        line, at = lines[each.line - 1], each.column
        note = f"_noted_calls.note({each.mark!r})"
        end = b"; " if line[:at].strip() else b"\n" + line[:at]
        lines[each.line - 1] = line[:at] + note.encode() + end + line[at:]
    at = _after_the_futures(text)
    lines.insert(at, f"from {package} import noted_calls as _noted_calls\n".encode())
    return b"".join(lines).decode()


def _after_the_futures(text):
    """Return the number of lines that must stay before any other import."""
    lines = 0
    for node in ast.parse(text).body:
        if not _only_says(node) and getattr(node, "module", "") != "__future__":
            break
        lines = node.end_lineno
    return lines


if __name__ == "__main__":
    sys.exit(main())
