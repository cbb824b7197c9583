"""Each ``broken_manifests/NAME.yaml`` is refused with the lines of ``refusals.txt``.

``CURATOR_GOLDEN=1`` rewrites the table; whoever reviews reads the difference.
"""

import os
from pathlib import Path

import pytest

from upstream.errors import ManifestError
from upstream.manifests.manifest import load_manifest

FOLDER = Path(__file__).parent / "broken_manifests"
BROKEN = sorted(p for p in FOLDER.glob("*.yaml") if p.name != "sound.yaml")
TABLE = FOLDER / "refusals.txt"


def refusals():
    """Return the problems of each broken manifest, a line each."""
    lines = []
    for path in BROKEN:
        with pytest.raises(ManifestError) as refusal:
            load_manifest(path)
        assert refusal.value.problems
        lines += [str(problem) for problem in refusal.value.problems]
    return [line.replace(f"{FOLDER}{os.sep}", "") for line in lines]


def test_the_manifest_that_the_broken_ones_were_is_sound():
    assert load_manifest(FOLDER / "sound.yaml").dataset == "hospital"


def test_each_broken_manifest_is_refused_with_place_and_remedy():
    found = "\n".join(refusals()) + "\n"
    if os.environ.get("CURATOR_GOLDEN"):
        TABLE.write_text(found)
    assert found == TABLE.read_text()
    assert len(BROKEN) >= 20


def test_each_refusal_has_a_file_a_line_and_a_sentence():
    for line in refusals():
        place, _, sentence = line.partition(": ")
        file, number, *_ = place.split(":")
        assert (FOLDER / file).exists(), line
        assert int(number) >= 1, line
        assert len(sentence.split()) >= 4, line
