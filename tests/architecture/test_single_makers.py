"""Who may make sealed values and proofs of payment, who may open them, who may draw."""

import ast
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = (
    *("privacy", "query_lang", "mechanisms", "budget"),
    *("engines", "release", "upstream", "server"),
)
SECURE_ENTROPY = {"secrets", "os.urandom"}
GENERATORS = ("random", "numpy.random")
LOOKED_AT = (
    *(ast.Call, ast.Import, ast.ImportFrom, ast.ClassDef),
    *(ast.Attribute, ast.keyword, ast.arg),
)


@cache
def texts():
    """Return the path and the text of each module that ships."""
    return [
        (path.relative_to(ROOT), path.read_text("utf-8"))
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
    ]


def modules(*words):
    """Yield the path and the nodes of each module that has one of these words."""
    for path, text in texts():
        if any(word in text for word in words):
            yield path, nodes_of(text)


@cache
def nodes_of(text):
    """Return the nodes of a text that any test looks at."""
    return [node for node in ast.walk(ast.parse(text)) if isinstance(node, LOOKED_AT)]


def called_name(call):
    """Return the name by which a call calls: ``Exact`` of ``sealed.Exact[int](x)``."""
    function = call.func
    if isinstance(function, ast.Subscript):
        function = function.value
    if isinstance(function, ast.Attribute):
        return function.attr
    return getattr(function, "id", None)


def callers(name, found_in=None):
    return {
        str(path)
        for path, nodes in found_in or modules(name)
        for node in nodes
        if isinstance(node, ast.Call) and called_name(node) == name
    }


def outside(paths, *packages):
    return sorted(path for path in paths if Path(path).parts[0] not in packages)


def aliases(name):
    """Return every renamed import of a class, which would hide its calls."""
    return [
        str(path)
        for path, nodes in modules(name)
        for node in nodes
        if isinstance(node, ast.ImportFrom)
        for imported in node.names
        if imported.name == name and imported.asname is not None
    ]


def test_exact_values_are_made_by_engines_alone():
    made = callers("Exact")
    assert made
    made.discard("privacy/sealed.py")  # its map makes a seal of a sealed value
    assert outside(made, "engines", "release") == []


def is_reader(path):
    """Whether a module is one of release's readers of raw counts."""
    return Path(path).parts[0] == "release" and Path(path).stem.startswith("sealed")


def test_sealed_values_are_mapped_by_releases_readers_of_raw_counts_alone():
    mapped = callers("map") - {"privacy/sealed.py"}
    assert "release/contract/sealed_cube.py" in mapped
    assert {path for path in mapped if not is_reader(path)} <= {
        path for path in mapped if "Exact" not in (ROOT / path).read_text("utf-8")
    }


def test_exact_values_are_opened_by_mechanisms_alone():
    opened = callers("unseal")
    assert opened
    assert outside(opened, "mechanisms") == []


def test_nobody_reaches_around_the_seal():
    words = ("_Exact__value", "__value")
    guilty = [
        str(path)
        for path, text in texts()
        if str(path) != "privacy/sealed.py" and any(word in text for word in words)
    ]
    assert guilty == []


def test_proofs_of_payment_are_made_by_the_budget_alone():
    made = callers("Charge")
    assert made
    assert outside(made, "budget") == []


@pytest.mark.parametrize("name", ["Exact", "Charge"])
def test_guarded_classes_are_imported_under_their_own_names(name):
    assert aliases(name) == []


@pytest.mark.parametrize("name", ["Exact", "Charge"])
def test_guarded_classes_have_no_subclasses(name):
    subclasses = [
        str(path)
        for path, nodes in modules(name)
        for node in nodes
        if isinstance(node, ast.ClassDef)
        for base in node.bases
        if name in ast.unparse(base).replace("[", " ").split()
    ]
    assert subclasses == []


def test_the_search_for_callers_finds_a_planted_one():
    planted = [(Path("server/x.py"), nodes_of("a = sealed.Exact[int](5).unseal()"))]
    assert callers("Exact", planted) == {"server/x.py"}
    assert callers("unseal", planted) == {"server/x.py"}


def imported_modules(nodes):
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def spelled(attribute):
    """Return the dotted name of an attribute, empty where it begins with no name."""
    names, value = [], attribute
    while isinstance(value, ast.Attribute):
        names.append(value.attr)
        value = value.value
    return ".".join([value.id, *names[::-1]]) if isinstance(value, ast.Name) else ""


def seeded_draws(nodes):
    """Return uses of numpy's generators and keyword arguments named seed."""
    for node in nodes:
        if isinstance(node, ast.Attribute) and spelled(node).startswith(
            ("np.random", "numpy.random")
        ):
            yield spelled(node)
        if isinstance(node, ast.keyword | ast.arg) and node.arg == "seed":
            yield "seed"


SEEDED = {
    *(("server", "demo"), ("upstream", "extraction"), ("upstream", "anonymization"))
}
"""Rooms whose draws hide nothing: made-up patients, what a model is trained on, and
queries by which a copy is judged."""


def test_nothing_shipped_draws_from_a_seedable_generator():
    guilty = [
        (str(path), name)
        for path, nodes in modules("seed", "random")
        if path.parts[:2] not in SEEDED
        for name in [*imported_modules(nodes), *seeded_draws(nodes)]
        if name == "seed" or name.startswith(("np.random", *GENERATORS))
    ]
    assert guilty == []


def test_no_setting_names_a_seed():
    text = (ROOT / "server/configuration/settings.py").read_text("utf-8").lower()
    assert "seed" not in text


def test_nothing_shipped_imports_the_tests():
    guilty = [
        str(path)
        for path, nodes in modules("tests")
        if any(name.split(".")[0] == "tests" for name in imported_modules(nodes))
    ]
    assert guilty == []
