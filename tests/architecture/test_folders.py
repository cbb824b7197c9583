"""Folders hold few enough files that their list is read at one look."""

import subprocess
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
MOST_FILES = 15


def modules():
    """Return the Python files that the tree holds, whatever else lies beside them."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    found = [Path(name) for name in listed.split("\0") if name]
    return [path for path in found if (ROOT / path).exists()]


def test_no_folder_has_more_files_than_are_read_at_one_look():
    held = Counter(str(path.parent) for path in modules() if path.name != "__init__.py")
    assert held
    crowded = {folder: count for folder, count in held.items() if count > MOST_FILES}
    assert crowded == {}


def test_every_folder_of_a_package_says_what_it_is_for():
    shipped = {
        *("privacy", "query_lang", "mechanisms", "budget"),
        *("engines", "release", "upstream", "server"),
    }
    folders = {
        path.parent
        for path in modules()
        if path.parts[0] in shipped and path.parent.name != "versions"
    }
    assert folders
    silent = [
        str(folder)
        for folder in sorted(folders)
        if not (ROOT / folder / "__init__.py").read_text("utf-8").startswith('"""')
    ]
    assert silent == []


def test_unit_tests_stand_in_the_folders_of_what_they_test():
    units = ROOT / "tests/unit"
    tested = {path.parent.relative_to(units) for path in units.rglob("test_*.py")}
    assert tested
    strange = [str(folder) for folder in sorted(tested) if not is_mirrored(folder)]
    assert strange == []


def is_mirrored(folder):
    first, *others = folder.parts
    place = "clients/python/curator_client" if first == "client" else first
    return ROOT.joinpath(place, *others).is_dir()


def test_a_folder_of_tests_of_nothing_is_found():
    assert not is_mirrored(Path("release/cubes/no_such_folder"))
