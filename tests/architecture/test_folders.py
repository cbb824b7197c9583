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
