"""What the page of the architecture names is there, and every folder is named."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "architecture.md").read_text("utf-8")
PACKAGES = (
    *("privacy", "query_lang", "mechanisms", "budget"),
    *("engines", "release", "upstream", "server"),
)
MOST_CHARACTERS = 900  # of a row: what is read in less than a minute

PATH = r"`([\w.-]+(?:/[\w.-]+)+|[\w-]+\.(?:py|md|toml|yaml|json|txt|sql))`"
NAME = r"`[A-Za-z_]\w*`"
NAMES = rf"({NAME}(?:(?:,| and| or|, and) {NAME})*)"
SAID = re.compile(rf"{NAMES} (?:in|of) {PATH}|{NAMES} there|{PATH}(?: \({NAMES})?")


def rows(heading):
    """Return the rows of the tables below a heading, each a list of cells."""
    below = TEXT.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in below.splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return [row for row in cells if row[0] not in {"a change", "package"}]


CHANGES = rows("Where does X go?")
each_change = pytest.mark.parametrize("row", CHANGES, ids=lambda row: row[0])


def found(short, before):
    """Return a path from the root, or from the path before or a folder above that."""
    folders = [ROOT, before, *before.parents] if before else [ROOT]
    inside = [folder for folder in folders if folder.is_relative_to(ROOT)]
    return next((at / short for at in inside if (at / short).exists()), None)


def said_in(cells):
    """Yield each path as it is written, the path it means, and names said of it."""
    before = None
    for match in SAID.finditer(" ".join(cells)):
        in_path, path, there, plain, of_plain = match.groups()
        short = path or plain
        meant = found(short, before) if short else before
        yield short, meant, re.findall(r"\w+", in_path or there or of_plain or "")
        before = meant or before


def holds(path, name):
    """Whether a name is written in a file, or in one of a folder."""
    files = path.rglob("*.py") if path.is_dir() else [path]
    word = re.compile(rf"\b{re.escape(name)}\b")
    return any(word.search(file.read_text("utf-8")) for file in files)


def test_the_tables_say_where_hundreds_of_things_are():
    said = [each for row in CHANGES for each in said_in(row[1:])]
    assert len(CHANGES) > 50
    assert len({path for _, path, _ in said}) > 200
    assert sum(len(names) for _, _, names in said) > 100


@each_change
def test_every_path_is_there(row):
    said = list(said_in(row[1:]))
    assert [short for short, path, _ in said if path is None] == []
    assert said


@each_change
def test_every_name_is_in_the_file_that_is_said_to_have_it(row):
    lost = [
        (name, str(path.relative_to(ROOT)))
        for _, path, names in said_in(row[1:])
        for name in names
        if path is None or not holds(path, name)
    ]
    assert lost == []


@each_change
def test_of_every_name_it_is_said_which_file_has_it(row):
    text = " ".join(row[1:])
    placed = {name for _, _, names in said_in(row[1:]) for name in names}
    assert [name for name in re.findall(NAME, text) if name[1:-1] not in placed] == []


@each_change
def test_a_row_is_read_in_less_than_a_minute(row):
    assert len(" | ".join(row)) <= MOST_CHARACTERS


def test_no_change_has_two_rows():
    names = [row[0] for row in CHANGES]
    assert len(set(names)) == len(names)


def test_a_name_that_moved_and_a_file_that_is_gone_are_found():
    cells = ["`server/main.py` (`COMMANDS`, `no_name`), `lost.py`, `Told` there"]
    (main, told), (lost, nowhere), (_, again) = [
        (short, path) for short, path, _ in said_in(cells)
    ]
    assert (main, lost) == ("server/main.py", "lost.py")
    assert told == again == ROOT / "server/main.py"
    assert nowhere is None
    assert holds(told, "COMMANDS")
    assert not holds(told, "no_name")


PROSE = TEXT.split("\n## Where does X go?\n")[0]


@pytest.mark.parametrize("short", sorted(set(re.findall(PATH, PROSE))))
def test_what_the_prose_names_is_there(short):
    packages = [ROOT / each for each in PACKAGES]
    below = any(any(each.rglob(short)) for each in packages if "/" not in short)
    assert below or any((at / short).exists() for at in (ROOT, *packages))


FOLDERS = {row[0].strip("`"): row[1] for row in rows("Packages")}


def code_folders(folder):
    """Return the folders of code in a folder, but what Python left behind."""
    inner = [each for each in folder.iterdir() if any(each.glob("*.py"))]
    return [each for each in inner if each.name != "__pycache__"]


def two_levels(package):
    """Yield each folder of a package and each in it, with the row that has it."""
    for folder in code_folders(ROOT / package):
        yield folder.relative_to(ROOT), package
        own = str(folder.relative_to(ROOT))
        for inner in code_folders(folder):
            yield inner.relative_to(ROOT), own if own in FOLDERS else package


@pytest.mark.parametrize("package", [each for each in PACKAGES if each != "privacy"])
def test_every_folder_of_two_levels_stands_in_its_packages_row(package):
    silent = [
        str(folder)
        for folder, row in two_levels(package)
        if f"`{folder.relative_to(row)}`" not in FOLDERS[row]
        and f"`{folder}`" not in FOLDERS[row]
    ]
    assert silent == []


@pytest.mark.parametrize("row", FOLDERS)
def test_a_row_of_folders_names_none_that_is_gone(row):
    gone = [
        name
        for name in re.findall(r"`([\w/]+)`", FOLDERS[row])
        if not any((at / name).is_dir() for at in (ROOT / row, ROOT, *above(row)))
    ]
    assert gone == []


def above(row):
    """Return the folders that hold a row's folder, and those that stand in it."""
    inside = [each for each in (ROOT / row).iterdir() if each.is_dir()]
    return [*(ROOT / row).parents, *inside]


def test_every_file_of_the_servers_own_folder_stands_in_its_row():
    files = [path.name for path in (ROOT / "server").glob("[a-z]*.py")]
    assert len(files) > 5
    assert [name for name in files if f"`{name}`" not in FOLDERS["server"]] == []
