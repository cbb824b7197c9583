"""The docs cannot drift: what exists in code has its place in them."""

import ast
import re
from pathlib import Path

import pytest
from typer.main import get_command

from server.api.app import openapi_document
from server.api.schemas.problems import STATUS_BY_CODE
from server.configuration.settings import Settings
from server.main import cli
from server.use_cases.identity.roles import ROLES, ROUTES

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
LINKING = [
    *PAGES,
    *(
        ROOT / name
        for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")
    ),
]
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
NO_NOISE = {
    *("__init__", "errors", "laplace", "calibration", "half_widths", "pricing"),
    *("entropy", "enclosures", "noisy", "power_sums"),
}


def page(name):
    return (DOCS / name).read_text("utf-8")


def headings(text):
    return re.findall(r"^#+ (.+)$", FENCE.sub("", text), re.MULTILINE)


def anchors(path):
    """Return the fragment of each heading, as forges derive it."""
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        for heading in headings(path.read_text("utf-8"))
    }


MECHANISMS = sorted((ROOT / "mechanisms").rglob("*.py"))


def test_each_mechanism_has_a_proof():
    paths = [path for path in MECHANISMS if path.stem not in NO_NOISE]
    assert paths
    for path in paths:
        pages = re.findall(r"docs/proofs/(\w+)\.md", path.read_text("utf-8"))
        assert pages, path
        assert [p for p in pages if not (DOCS / "proofs" / f"{p}.md").exists()] == []


def test_modules_that_are_no_mechanisms_draw_nothing():
    assert {path.stem for path in MECHANISMS} >= NO_NOISE
    for path in MECHANISMS:
        if path.stem in NO_NOISE - {"laplace", "__init__"}:
            text = path.read_text("utf-8")
            assert "unseal" not in text, path
            assert "sampler." not in text, path


@pytest.mark.parametrize("code", sorted(STATUS_BY_CODE))
def test_each_error_code_has_a_heading_with_its_status(code):
    assert f"{STATUS_BY_CODE[code]} `{code}`" in headings(page("errors.md"))


def test_the_errors_page_names_no_code_that_does_not_exist():
    found = {
        match[1]
        for heading in headings(page("errors.md"))
        if (match := re.fullmatch(r"\d{3} `(\w+)`", heading))
    }
    assert found == set(STATUS_BY_CODE)


def setting_names():
    return [
        f"CURATOR_{name.rstrip('_').upper()}" for name in sorted(Settings.model_fields)
    ]


@pytest.mark.parametrize("name", setting_names())
def test_each_setting_has_a_row_with_its_default(name):
    field = Settings.model_fields.get(name.removeprefix("CURATOR_").lower())
    (row,) = re.findall(rf"^\| `{name}` \|.*$", page("operations.md"), re.MULTILINE)
    if field is not None and isinstance(field.default, int | str) and field.default:
        assert f"| `{field.default}` |" in row


PATHS = openapi_document()["paths"]


@pytest.mark.parametrize("path", sorted(PATHS))
def test_each_route_has_a_heading(path):
    for verb in PATHS[path]:
        assert f"`{verb.upper()} {path}`" in headings(page("http.md"))


def commands(command, prefix="curator"):
    for name in sorted(command.list_commands(None)):
        child = command.get_command(None, name)
        if hasattr(child, "list_commands"):
            yield from commands(child, f"{prefix} {name}")
        else:
            yield f"{prefix} {name}"


@pytest.mark.parametrize("command", list(commands(get_command(cli))))
def test_each_command_stands_in_the_operations_page(command):
    assert f"`{command}" in page("operations.md")


def test_each_role_stands_in_the_glossary():
    for role in ROLES:
        assert f"**{role.capitalize()}**" in page("glossary.md"), role


def test_the_page_of_roles_is_the_table_of_the_code():
    for route, roles in ROUTES.items():
        (row,) = re.findall(
            rf"^\| `{re.escape(route)}` \|(.*)\|$", page("roles.md"), re.MULTILINE
        )
        shown = [cell.strip() for cell in row.split("|")]
        assert shown == ["yes" if r in (roles or ROLES) else "" for r in ROLES], route
    assert page("roles.md").count("| `") == len(ROUTES)
    assert f"| route | {' | '.join(ROLES)} |" in page("roles.md")


def links():
    for path in LINKING:
        for target in LINK.findall(FENCE.sub("", path.read_text("utf-8"))):
            if not re.match(r"[a-z]+:", target):
                yield path, target


def test_every_relative_link_resolves():
    broken = []
    for path, target in links():
        file, _, fragment = target.partition("#")
        aim = (path.parent / file).resolve() if file else path
        missing = not aim.exists()
        if missing or (fragment and fragment not in anchors(aim)):
            broken.append(f"{path.relative_to(ROOT)} -> {target}")
    assert broken == []


def test_the_index_leads_to_every_page():
    index = DOCS / "index.md"
    seen, waiting = set(), [index]
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        waiting += [
            (path.parent / target.partition("#")[0]).resolve()
            for path, target in links()
            if path == current and target.partition("#")[0].endswith(".md")
        ]
    assert sorted(set(PAGES) - seen) == []


def test_each_decision_says_context_decision_and_price():
    decisions = sorted((DOCS / "adr").glob("[0-9]*.md"))
    assert len(decisions) >= 8
    numbers = [path.name[:4] for path in decisions]
    assert len(set(numbers)) == len(numbers)
    for path in decisions:
        text = path.read_text("utf-8")
        assert headings(text)[1:4] == ["Context", "Decision", "Price"], path.name
        assert len(text.splitlines()) <= 40, path.name


PACKAGES = (
    *("privacy", "query_lang", "mechanisms", "budget"),
    *("engines", "release", "upstream", "server", "clients"),
)
METAPHORS = {
    *("office", "desk", "door", "shelf", "errand", "bench", "boot"),
    *("peel", "peeled", "tally", "foretold", "stray", "strays", "chance", "chances"),
}
KEPT_WORDS = {"boot", "lease_boot", "held_boot", "to_held_boot"}


def names_in(tree):
    for node in ast.walk(tree):
        for field in ("id", "attr", "arg", "name"):
            name = getattr(node, field, None)
            if isinstance(name, str):
                yield name


def test_no_name_in_the_code_is_a_word_that_the_glossary_replaced():
    found = set()
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            names = {*names_in(ast.parse(path.read_text("utf-8"))), path.stem}
            for name in names - KEPT_WORDS:
                words = re.findall(r"[A-Z]?[a-z]+", name)
                if METAPHORS.intersection(word.lower() for word in words):
                    found.add(f"{path.relative_to(ROOT)}: {name}")
    assert sorted(found) == []
