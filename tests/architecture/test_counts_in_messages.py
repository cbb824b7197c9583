"""A message that counts something says it in the number's own form."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOUNS = (
    "answers|charges|entries|jobs|loads|questions|releases|rows|shares|texts|units"
    "|values"
)
COUNT = re.compile(rf"(?<!of )\{{[^{{}}]+\}} (?:{NOUNS})\b")
ALWAYS_SEVERAL = {
    "budget/chain/writing.py": 1,  # an internal error, which tells a list of counts
    "server/cli/releases/making.py": 1,  # a sum of several releases
    "upstream/public_check/row_ids.py": 1,  # "hold" or "holds", no count
    "upstream/ingestion/load_warnings.py": 2,  # units that are like another
}


@pytest.mark.parametrize("folder", ["server", "upstream", "budget"])
def test_counts_go_through_one_function(folder):
    found = {
        str(path.relative_to(ROOT)): len(lines)
        for path in (ROOT / folder).rglob("*.py")
        if (lines := COUNT.findall(path.read_text("utf-8")))
    }
    known = {at: n for at, n in ALWAYS_SEVERAL.items() if at.startswith(folder)}
    assert found == known, "write counted(n, noun) of privacy.wording"
