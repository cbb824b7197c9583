"""What the tree may hold."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LARGEST_BYTES = 512 * 1024
MACHINE_PATHS = re.compile(
    r"(?<![\w.:/-])/(?:work|home|Users|root|opt/(?:pypi|wheels))/[\w.-]"
)
GENERATED = "openapi/openapi.json"  # it grows by a few kilobytes a route
VENDORED = "server/api/static/swagger-ui/"  # with licence and checksums
DATA_SUFFIXES = {".parquet", ".duckdb", ".sqlite", ".anchor", ".key"}


def tracked():
    done = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False
    )
    if done.returncode != 0:
        pytest.skip("not a git checkout: there is no list of tracked files")
    names = done.stdout.decode().split("\0")
    return [ROOT / name for name in names if name and (ROOT / name).is_file()]


def test_no_file_speaks_of_the_paths_of_one_machine():
    guilty = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in tracked()
        if path != Path(__file__)
        for match in MACHINE_PATHS.finditer(path.read_text("utf-8", errors="replace"))
    ]
    assert guilty == []


@pytest.mark.parametrize("text", ["see /home/ada/x", "open('/home/eve/y')"])
def test_the_search_for_machine_paths_finds_planted_ones(text):
    assert MACHINE_PATHS.search(text)


def test_no_large_file_and_no_data_is_committed():
    guilty = [
        str(path.relative_to(ROOT))
        for path in tracked()
        if path.suffix in DATA_SUFFIXES
        or (
            path.stat().st_size > LARGEST_BYTES
            and VENDORED not in str(path)
            and not str(path).endswith(GENERATED)
        )
    ]
    assert guilty == []


def test_requirements_name_no_index():
    for path in (ROOT / "requirements").iterdir():
        text = path.read_text("utf-8")
        assert "://" not in text, path.name
        assert "index-url" not in text, path.name
