"""Nothing but what is on the list reaches a log line, by any way into it."""

import ast
import json
import logging
import subprocess
import sys
from pathlib import Path

import pytest

from server.telemetry.logs import HeldLines, SlotHandler, note, noting

ROOT = Path(__file__).parents[4]
PACKAGES = ("server", "engines", "budget", "mechanisms", "upstream", "query_lang")

WAYS = {
    "arguments": "log.error('it failed: %s', 'canary')",
    "a library's words": "logging.getLogger('uvicorn.error').error('canary')",
    "a library's arguments": "logging.getLogger('a.b').error('at %s', 'canary')",
    "a key off the list": "log.error('x', extra={'sql': 'canary'})",
    "a listed key of another form": "log.error('x', extra={'route': 'canary?'})",
    "a name with a space": "log.error('x', extra={'principal': 'the canary'})",
    "a status that is text": "log.error('x', extra={'status': 'canary'})",
    "an exception": "try: int('canary')\nexcept ValueError: log.exception('x')",
    "an exception of a library": (
        "try: int('canary')\nexcept ValueError: logging.exception('x')"
    ),
    "a stack": "canary = 1; log.error('x', stack_info=True)",
    "a warning": "import warnings; warnings.warn('canary', stacklevel=1)",
    "arguments that do not fit": "log.error('x %d %d', 'canary')",
    "a thread's death": (
        "import threading\n"
        "t = threading.Thread(target=int, args=('canary',)); t.start(); t.join()"
    ),
    "a death that nobody can catch": (
        "class A:\n def __del__(self): raise ValueError('canary')\nA()"
    ),
    "the program's death": "int('canary')",
}
PLAIN = "logging.basicConfig(level='INFO')"
LISTED = "from server.telemetry.logs import configure_logs; configure_logs('info')"


def written(setup, way):
    """Run a program that logs, and return all that it wrote."""
    program = f"import logging\n{setup}\nlog = logging.getLogger('curator.x')\n{way}\n"
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        cwd=ROOT,
    )
    return done.stdout + done.stderr


def test_no_way_into_the_log_shows_what_is_not_listed():
    whole = "\n".join(
        f"def way_{i}():\n"
        + "\n".join(f"    {line}" for line in way.splitlines())
        + f"\nway_{i}()"
        for i, way in enumerate(w for n, w in WAYS.items() if "program" not in n)
    )
    text = written(LISTED, f"{whole}\nint('canary')")
    assert "canary" not in text
    lines = [json.loads(line) for line in text.splitlines()]
    assert len(lines) >= len(WAYS)
    assert lines[-1]["error"] == "ValueError"


@pytest.mark.parametrize("way", ["arguments", "an exception", "a thread's death"])
def test_a_planted_leak_is_found_without_the_list(way):
    """The positive control: the same programs leak where nothing is filtered."""
    assert "canary" in written(PLAIN, WAYS[way])


def calls_of_loggers():
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Call) and _is_log_call(node):
                    yield path, node


def _is_log_call(node):
    function = node.func
    return (
        isinstance(function, ast.Attribute)
        and isinstance(function.value, ast.Name)
        and function.value.id in {"_log", "log", "logger", "logging"}
        and function.attr
        in {"debug", "info", "warning", "error", "exception", "critical", "log"}
    )


def test_every_event_is_a_constant_text_without_arguments():
    """An event that is built holds what it is built of."""
    found = list(calls_of_loggers())
    assert len(found) >= 8
    for path, call in found:
        (event,) = call.args
        where = f"{path.relative_to(ROOT)}:{call.lineno}"
        assert isinstance(event, ast.Constant), where
        assert "%" not in event.value, where


def test_lines_from_inside_a_request_wait_until_it_has_left(capsys, monkeypatch):
    monkeypatch.setattr(logging.getLogger(), "handlers", [SlotHandler(sys.stderr)])
    held = HeldLines()
    with held.holding():
        logging.getLogger("curator.engine").error("execution failed")
    assert capsys.readouterr().err == ""
    held.write()
    held.write()
    assert capsys.readouterr().err == "execution failed\n"
    logging.getLogger("curator.engine").error("again")
    assert capsys.readouterr().err == "again\n"


def test_notes_belong_to_one_request():
    with noting() as first:
        note(code="not_found")
        with noting() as second:
            note(code="busy")
    note(code="nobody listens")
    assert (first, second) == ({"code": "not_found"}, {"code": "busy"})
