"""What is taken out of an image, and what finds that something is missing."""

import subprocess
import sys

import pytest

from scripts.image.imports import missing_of, named_in
from scripts.image.slim import MODELS, delete_unused, size_of, uninstall


@pytest.fixture
def site(tmp_path):
    """Site-packages with two distributions, one of which trains models."""
    for name in ("scipy", "kept"):
        package = tmp_path / name
        (package / "tests").mkdir(parents=True)
        (package / "__init__.py").write_text("import json\n")
        (package / "__init__.pyi").write_text("")
        (package / "tests/test_it.py").write_text("")
        info = tmp_path / f"{name}-1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\n")
        (info / "LICENSE").write_text("MIT")
        files = [f"{name}/__init__.py", f"{name}-1.dist-info/METADATA", "../x"]
        (info / "RECORD").write_text("".join(f"{one},,\n" for one in files))
    return tmp_path


def test_distributions_go_with_all_their_folders_and_no_other(site):
    assert uninstall(site, MODELS) == ["scipy"]
    assert {path.name for path in site.iterdir()} == {"kept", "kept-1.dist-info"}


def test_tests_and_stubs_go_and_licences_stay(site):
    before = size_of(site)
    assert delete_unused(site) == 4
    assert size_of(site) <= before
    left = {path.name for path in (site / "kept").rglob("*")}
    assert left == {"__init__.py"}
    assert (site / "kept-1.dist-info/LICENSE").exists()


def test_what_is_missing_is_found_also_within_functions(tmp_path):
    file = tmp_path / "lazy.py"
    file.write_text("def f():\n    import no_such_thing\n    from json import tool\n")
    assert named_in(file) == {"no_such_thing", "json"}
    wrong = missing_of({*named_in(file), "pandas"})
    assert [*wrong] == ["no_such_thing"]


def test_what_type_checkers_alone_read_need_not_be_there(tmp_path):
    file = tmp_path / "typed.py"
    file.write_text(
        "if TYPE_CHECKING:\n    import no_such_thing\n"
        "else:\n    import json\nimport re\n"
    )
    assert named_in(file) == {"json", "re"}


def test_all_kinds_of_jobs_are_read_without_the_libraries_of_models():
    code = "import sys, server.job_kinds\nprint({'scipy', 'sklearn'} & {*sys.modules})"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "set()"
