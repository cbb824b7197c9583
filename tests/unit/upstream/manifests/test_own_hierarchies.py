import os
import threading
from types import MappingProxyType

import pytest

from privacy.schema import HierarchyDomain
from upstream.errors import ManifestError
from upstream.manifests.declarations import HierarchySpec
from upstream.manifests.hierarchies import MOST_CODES, read_hierarchies
from upstream.manifests.manifest import load_manifest

GOOD = 'code,region,land\nGhent,east,be\n"a, b",,be\n'
MANIFEST = """\
version: 1
population: {id: p, unit: patient, unit_type: integer}
dataset: d
snapshot_date: 2024-12-31
hierarchies: [{name: towns, file: towns.csv}]
tables:
- name: stays
  files: [stays.csv]
  unit_column: pid
  max_rows_per_unit: 9
  source: protocol
  columns:
  - {name: pid, type: integer}
  - {name: town, type: text, domain: {hierarchy: towns}, source: list of towns}
"""


def read(folder, content, **more):
    raw = content if isinstance(content, bytes) else content.encode()
    (folder / "towns.csv").write_bytes(raw)
    spec = HierarchySpec(name="towns", file=more.pop("file", "towns.csv"))
    return read_hierarchies([spec], folder, more.pop("import_folder", folder))


def test_a_file_gives_levels_and_codes_in_its_order(tmp_path):
    towns = read(tmp_path, "\ufeff" + GOOD)["towns"]
    assert towns.levels == ("region", "land")
    assert list(towns.codes.items()) == [
        ("Ghent", ("east", "be")),
        ("a, b", (None, "be")),
    ]


def test_a_manifest_brings_its_hierarchies_to_schema_and_columns(tmp_path):
    (tmp_path / "towns.csv").write_text(GOOD)
    (tmp_path / "m.yaml").write_text(MANIFEST)
    manifest = load_manifest(tmp_path / "m.yaml")
    schema = manifest.schema()
    assert schema.tables["stays"].column("town").domain == HierarchyDomain("towns")
    assert isinstance(schema.hierarchies, MappingProxyType)
    assert manifest.tables[0].column("town").domain.own == schema.hierarchies
    assert "Ghent" not in manifest.canonical_json()


BROKEN = [
    # (content of the file, line, words of the sentence)
    ("", 1, "start with a header"),
    ("code\nx\n", 1, "start with a header"),
    ("town,land\nx,be\n", 1, "start with a header"),
    ("code,Land\nx,be\n", 1, "small letter"),
    ("code,land,land\nx,be,be\n", 1, "each level once"),
    ("code,land\n", 1, "no code"),
    ("code,land\nx,be\nx,nl\n", 3, "'x' stands twice"),
    ("code,land\nx,be\ny\n", 3, "1 fields, but the header has 2"),
    ("code,land\n,be\n", 2, "code is empty"),
    ('code,land\nx,"be\n', 2, "no plain CSV"),
    ('code,land\nx,"b\x1fe"\n', 2, "control character"),
    (f"code,land\nx,{'b' * 201}\n", 2, "more than 200"),
    (b"code,land\n\xff,be\n", None, "UTF-8"),
    (b"x" * (2**20 + 1), None, "one mebibyte"),
    (
        "code,land\n" + "".join(f"{i},be\n" for i in range(MOST_CODES + 1)),
        MOST_CODES + 2,
        "more than 5,000",
    ),
]


@pytest.mark.parametrize(("content", "line", "words"), BROKEN)
def test_a_broken_file_is_refused_with_its_line(tmp_path, content, line, words):
    with pytest.raises(ManifestError, match=words) as refusal:
        read(tmp_path, content)
    problem = refusal.value.problems[0]
    assert (problem.file, problem.line) == ("towns.csv", line)


def test_a_missing_file_and_one_outside_the_import_folder_are_refused(tmp_path):
    with pytest.raises(ManifestError, match="cannot be read"):
        read(tmp_path, GOOD, file="villages.csv")
    inside = tmp_path / "inside"
    inside.mkdir()
    with pytest.raises(ManifestError, match="outside the import folder"):
        read(inside, GOOD, file="../towns.csv")
    with pytest.raises(ManifestError, match="outside the import folder"):
        read(tmp_path, GOOD, import_folder=inside)


def test_a_pipe_a_folder_or_a_link_outwards_is_no_hierarchy(tmp_path):
    inside = tmp_path / "in"
    (inside / "folder.csv").mkdir(parents=True)
    os.mkfifo(inside / "pipe.csv")
    (tmp_path / "towns.csv").write_text(GOOD)
    (inside / "link.csv").symlink_to(tmp_path / "towns.csv")
    pipe = inside / "pipe.csv"  # filled, so that reading it would not wait for ever
    threading.Thread(target=pipe.write_text, args=(GOOD,), daemon=True).start()
    for name, words in (
        ("pipe.csv", "no regular file"),
        ("folder.csv", "no regular file"),
        ("link.csv", "outside the import folder"),
        ("absent.csv", "check the name"),
        ("a\0b.csv", "check the name"),
        ("x" * 5000, "check the name"),
    ):
        spec = HierarchySpec(name="towns", file=name)
        with pytest.raises(ManifestError, match=words):
            read_hierarchies([spec], inside, inside)
