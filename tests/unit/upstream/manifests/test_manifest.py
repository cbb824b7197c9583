import json
from datetime import date
from decimal import Decimal

import pytest
import yaml

from privacy.losses import Loss
from privacy.schema import ColumnType, RangeDomain, ValuesDomain
from upstream.errors import ManifestError
from upstream.manifests.manifest import Manifest, load_manifest
from upstream.manifests.manifest_schema import PUBLISHED, manifest_json_schema
from upstream.manifests.yaml_nodes import _ExactLoader

GOOD = """\
version: 1
population:
  id: hospital
  unit: patient
  unit_type: integer
  epsilon_cap: 10.50
  delta_cap: 0
  epsilon_per_query: {min: 0.01, max: "1"}
  source: protocol 7
dataset: stays
snapshot_date: 2024-01-31
display: {hide_below: 11}
tables:
- name: encounters
  files: [encounters.csv]
  unit_column: patient_id
  key: [day]
  keep: {first_by: day}
  max_rows_per_unit: 40
  source: protocol 7
  columns:
  - {name: patient_id, from: PATIENT, type: text}
  - {name: answer, type: text, map: {1: one, no: ~}, domain: {values: [no, 1, 007], other: true}, source: form 3}
  - {name: weight, type: decimal, scale: 2, domain: {min: 0, max: 300.50}, source: ladder}
  - {name: day, type: date, format: "%d.%m.%Y", domain: {min: 2000-01-01, max: 2020-12-31}, source: protocol}
  - {name: seen, type: boolean, constant_in_unit: true, null_values: [NA, 999]}
- name: codes
  files: [codes/*.parquet]
  public: true
  key: [code]
  columns:
  - {name: code, type: text, nullable: false}
"""  # noqa: E501 - one column a line


def load(tmp_path, text):
    path = tmp_path / "m.yaml"
    path.write_text(text)
    return load_manifest(path)


@pytest.fixture
def manifest(tmp_path):
    return load(tmp_path, GOOD)


def test_losses_and_bounds_are_exact(manifest):
    assert manifest.population.epsilon_cap == Loss.parse("10.5")
    assert manifest.population.epsilon_per_query.min == Loss.parse("0.01")
    weight = manifest.schema().tables["encounters"].column("weight")
    assert weight.domain == RangeDomain(Decimal(0), Decimal("300.50"))


def test_words_mean_what_they_look_like(manifest):
    answer = manifest.schema().tables["encounters"].column("answer")
    assert answer.domain == ValuesDomain(("no", "1", "007"), other=True)
    assert manifest.tables[0].column("answer").map == {"1": "one", "no": None}
    assert manifest.tables[0].column("seen").null_values == ("NA", "999")


def test_the_schema_is_what_the_manifest_declares(manifest):
    schema = manifest.schema()
    assert (schema.name, schema.population, schema.unit) == (
        "stays", "hospital", "patient",
    )  # fmt: skip
    assert schema.snapshot_date == date(2024, 1, 31)
    encounters, codes = schema.tables["encounters"], schema.tables["codes"]
    assert (encounters.unit_column, encounters.max_rows_per_unit) == ("patient_id", 40)
    assert encounters.key == ("day",)
    assert encounters.column("seen").constant_in_unit
    assert encounters.column("day").type is ColumnType.DATE
    assert codes.is_public
    assert not codes.column("code").nullable


def test_canonical_json_gives_the_manifest_back(manifest):
    text = manifest.canonical_json()
    again = Manifest.from_json(text)
    assert again == manifest
    assert again.canonical_json() == text
    assert json.loads(text)["population"]["epsilon_cap"] == "10.5"


def test_the_published_json_schema_is_the_models():
    assert PUBLISHED.read_text() == manifest_json_schema()


def test_aliases_spare_repetition(tmp_path):
    text = GOOD.replace("source: ladder", "source: &s ladder")
    text = text.replace("source: form 3", "source: form 3", 1)
    text = text.replace("2020-12-31}, source: protocol", "2020-12-31}, source: *s")
    assert load(tmp_path, text).tables[0].column("day").source == "ladder"


FORMAT = 'date, format: "%d.%m.%Y"'
BROKEN = [
    # (what to replace, with what, line, words of the sentence)
    ("version: 1", "version: 2", 1, "version: write 1"),
    ("  unit: patient\n", "", 2, "unit is missing"),
    ("unit_type: integer", "unit_type: uuid", 5, "'integer' or 'text'"),
    ("10.50", "10.0000000001", 6, "nine after"),
    ("10.50", "1e1", 6, "plain decimal"),
    ("10.50", "0", 6, "above 0"),
    ("10.50", "true", 6, "plain decimal"),
    ("delta_cap: 0", "delta_cap: 0.001", 7, "not in this version"),
    ('max: "1"', "max: 0.001", 8, "below min"),
    ("  source: protocol 7\ndataset", "dataset", 2, "source is missing"),
    ("source: protocol 7\ndataset", "source: Data\ndataset", 9, "must not be the data"),
    ("dataset: stays", "dataset: Stays", 10, "small letter"),
    ("2024-01-31", "31.01.2024", 11, "YYYY-MM-DD"),
    *(
        ("display:", f"linked: {said}\ndisplay:", 12, "leave it out where nothing")
        for said in ("no", "None", "' Never. '", "false", "'False'", "unknown", "true")
    ),
    ("hide_below: 11", "hide_below: eleven", 12, "whole number"),
    ("hide_below: 11", "hide_bellow: 11", 12, "did you mean hide_below"),
    (
        "display:",
        "hierarchies: [{name: icd10, file: x.csv}]\ndisplay:",
        12,
        "built in",
    ),
    (
        "display:",
        "hierarchies: [{name: own, file: /x.csv}]\ndisplay:",
        12,
        "relative",
    ),
    (
        "display:",
        "hierarchies: [{name: a, file: a.csv}, {name: a, file: b.csv}]\ndisplay:",
        12,
        "stands twice",
    ),
    ("[encounters.csv]", "[/etc/passwd.csv]", 15, "relative"),
    ("[encounters.csv]", "[encounters.pdf]", 15, "only text files"),
    ("unit_column: patient_id", "unit_column: patient", 16, "declare it as a column"),
    ("  unit_column: patient_id\n", "", 14, "either unit_column"),
    ("  unit_column", "  public: true\n  unit_column", 14, "either unit_column"),
    ("key: [day]", "key: [night]", 17, "no column"),
    ("{first_by: day}", "{first_by: patient_id}", 18, "other than the unit column"),
    ("  max_rows_per_unit: 40\n", "", 14, "max_rows_per_unit is missing"),
    ("max_rows_per_unit: 40", "max_rows_per_unit: 0", 19, "1 or more"),
    ("max_rows_per_unit: 40", "max_rows_per_unit: true", 19, "whole number"),
    ("  source: protocol 7\n  columns", "  columns", 14, "source is missing"),
    ("name: answer", "name: row_hash", 23, "reserved"),
    ("name: answer", "name: answer, from: PATIENT", 23, "unit column once more"),
    ("name: answer", "name: limit", 23, "a word of the language"),
    ("name: answer", "name: current_date", 23, "a word of the language"),
    ("name: answer", "name: weight", 24, "stands twice"),
    (", source: form 3", "", 23, "source is missing"),
    ("[no, 1, 007]", "[no, 1, other]", 23, "'other' cannot be listed"),
    ("[no, 1, 007]", '[no, 1, "1"]', 23, "stands twice"),
    ("{values: [no, 1, 007], other: true}", "{hierarchy: icd11}", 23, "no hierarchy"),
    ("{values: [no, 1, 007], other: true}", "{hierarchy: ~}", 23, "or hierarchy"),
    ("{min: 0, max: 300.50}", "{hierarchy: icd10}", 24, "codes are texts"),
    ("other: true}", "hierarchy: icd9cm}", 23, "stands alone"),
    ("{1: one, no: ~}", '{1: one, "": x}', 23, "both in null_values and in map"),
    (", scale: 2", "", 24, "scale is missing"),
    ("max: 300.50", "max: 300.505", 24, "not a value of weight"),
    ("{min: 0, max: 300.50}", "{min: 0}", 24, "both min and max"),
    ("{min: 0, max: 300.50}", "{min: [0], max: 1}", 24, "one value"),
    ("%d.%m.%Y", "%d.%m.%y", 25, "century"),
    ("%d.%m.%Y", "%d.%m", 25, "year, month and day"),
    ("max: 2020-12-31", "max: 1999-12-31", 25, "below min"),
    ("max: 2020-12-31", "max: 2020-13-31", 25, "YYYY-MM-DD"),
    ("[NA, 999]", "[NA, ~]", 26, 'write "" for an empty field'),
    ("type: text, map", "type: text, scale: 1, map", 23, "only a decimal"),
    ("type: text, map", 'type: text, format: "%Y", map', 23, "have a format"),
    ("{1: one, no: ~}", '{1: "a\\0b"}', 23, "not a value of answer"),
    ("{1: one, no: ~}", '{"a\\0b": x}', 23, "NUL"),
    ("{values: [no, 1, 007], other: true}", "{min: a, max: b}", 23, "list values"),
    ("{values: [no, 1, 007], other: true}", "{values: []}", 23, "at least one"),
    ("{values: [no, 1, 007], other: true}", "{other: true}", 23, "either min and max"),
    ("PATIENT, type: text", "PATIENT, type: date", 22, "an integer or a text"),
    ("type: boolean,", "type: boolean, map: {Y: 1},", 26, "write true or false"),
    (
        "type: boolean",
        "type: timestamp, domain: {min: 2024-01-01, max: x}, source: s",
        26,
        "without a zone",
    ),
    (
        "type: boolean",
        "type: integer, domain: {values: [1, x], other: true}, source: s",
        26,
        "integer of 64 bits",
    ),
    (
        "type: boolean",
        "type: integer, domain: {values: [1], other: true}, source: s",
        26,
        "only text columns",
    ),
    ("  key: [code]", "  source: data", 30, "must not be the data"),
    ("  key: [code]", "  keep: {first_by: code}", 30, "copied whole"),
    ("code, type: text", "code, type: text, constant_in_unit: true", 32, "no units"),
    ("constant_in_unit: true", "constant_in_unit: yes", 26, "true or false"),
    ("name: codes", "name: encounters", 27, "stands twice"),
    ("{name: code,", "{name: code, from: patient_id,", 32, "cannot be public"),
    ("key: [code]", "fan_out: [{columns: [name], max: 3}]", 30, "no column"),
    ("key: [code]", "fan_out: [{columns: [code, code], max: 3}]", 30, "stands twice"),
    ("key: [day]", "fan_out: [{columns: [day], max: 3}]", 17, "only a public table"),
    ("  key: [code]", "  max_rows_per_unit: 3", 30, "no units"),
    ("from: PATIENT", "frm: PATIENT", 22, "did you mean from"),
    (
        "type: text}\n",
        "type: text, domain: {values: [a]}, source: x}\n",
        22,
        "no domain",
    ),
    ("unit: patient", "unit: patient\n  unit: person", 5, "stands twice"),
    ("unit: patient", "unit: !!python/name:os.system x", 4, "tag"),
    ("unit: patient", "unit: *nowhere", 4, "not YAML"),
    ("population:", "population", 3, "not YAML"),
    ("tables:\n", "tables: &t\n- *t\n", 13, "points into itself"),
    (FORMAT, "date, format: unix_seconds", 25, "is a moment"),
    (FORMAT, 'timestamp, format: "%Y-%m-%d %I"', 25, "or %I with %p"),
    (FORMAT, 'timestamp, format: "%Y-%m-%d%z"', 25, "declare clock: as_written"),
    (FORMAT, "timestamp, formats: [unix_seconds, '%Y%m%d']", 25, "mean two days"),
    (FORMAT, f"{FORMAT}, clock: utc", 25, "need a clock"),
    ("[NA, 999]", '["TODO NA"]', 26, "does this word mean that there is no value"),
    ("{1: one, no: ~}", '{1: "TODO false"}', 23, "still to do: say what '1' means"),
]


@pytest.mark.parametrize(("old", "new", "line", "words"), BROKEN)
def test_a_broken_manifest_is_refused_with_a_place_and_a_remedy(
    tmp_path, old, new, line, words
):
    assert old in GOOD
    with pytest.raises(ManifestError, match=words) as refusal:
        load(tmp_path, GOOD.replace(old, new, 1))
    problem = refusal.value.problems[0]
    assert problem.line == line
    assert problem.column >= 1


def test_all_problems_come_at_once(tmp_path):
    text = GOOD.replace("[encounters.csv]", "[x.doc]").replace("source: form 3", "")
    text = text.replace("max: 300.50", "max: x").replace("%d.%m.%Y", "%x")
    with pytest.raises(ManifestError) as refusal:
        load(tmp_path, text)
    assert [p.line for p in refusal.value.problems] == [15, 23, 24, 25]


@pytest.mark.parametrize(
    ("beside", "key", "hint"),
    [
        ("files: [encounters.csv]", "max_length: 5", "in a column, not here"),
        ("files: [encounters.csv]", "unit_fold: case", "under population, not here"),
        ("files: [encounters.csv]", "hide_below: 5", "under display, not here"),
        ("files: [encounters.csv]", "sourc: x", "did you mean source?"),
        ("files: [encounters.csv]", "file: x", "did you mean files?"),
        ("files: [encounters.csv]", "zzz: x", "the keys here are name, files"),
    ],
)
def test_a_key_at_the_wrong_place_is_told_where_it_belongs(tmp_path, beside, key, hint):
    indent = next(line for line in GOOD.splitlines() if beside in line)
    blank = " " * (len(indent) - len(indent.lstrip(" -")))
    text = GOOD.replace(indent, f"{indent}\n{blank}{key}", 1)
    with pytest.raises(ManifestError) as refusal:
        load(tmp_path, text)
    assert hint in refusal.value.problems[0].sentence


@pytest.mark.parametrize("text", ["", "- 1", "just words", "\x00", "%"])
def test_what_is_no_manifest_at_all_is_refused(tmp_path, text):
    with pytest.raises(ManifestError):
        load(tmp_path, text)


def test_a_manifest_that_is_not_there_or_not_utf8_is_refused(tmp_path):
    with pytest.raises(ManifestError, match="cannot be read"):
        load_manifest(tmp_path / "nowhere.yaml")
    (tmp_path / "m.yaml").write_bytes(b"version: \xff")
    with pytest.raises(ManifestError, match="UTF-8"):
        load_manifest(tmp_path / "m.yaml")


def test_an_alias_bomb_is_refused(tmp_path):
    bomb = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1]\n"
    for i in range(1, 9):
        bomb += f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n"
    with pytest.raises(ManifestError, match="nodes"):
        load(tmp_path, bomb)


def test_a_manifest_too_large_to_read_is_not_read(tmp_path):
    with (tmp_path / "m.yaml").open("wb") as file:
        file.truncate(1 << 40)  # more than any memory
    with pytest.raises(ManifestError, match="larger than one mebibyte"):
        load_manifest(tmp_path / "m.yaml")


DEEP = [
    ("lists", "[" * 100_000),
    ("mappings", "{a: " * 100_000),
    ("blocks", "- " * 100_000),
    ("aliases", "a0: &a0 []\n"
     + "".join(f"a{i + 1}: &a{i + 1} [*a{i}]\n" for i in range(2_000))),
]  # fmt: skip


@pytest.mark.parametrize("text", [text for _, text in DEEP], ids=[n for n, _ in DEEP])
def test_a_manifest_that_is_too_deep_is_refused(tmp_path, text):
    with pytest.raises(ManifestError, match="more than 50 levels"):
        load(tmp_path, text)


def test_of_too_many_nodes_no_more_is_scanned_than_may_stand_there(tmp_path):
    broken_later = "- a\n" * 100_001 + "{"
    with pytest.raises(ManifestError, match="nodes"):
        load(tmp_path, broken_later)


def test_a_manifest_is_parsed_by_the_library_in_c():
    assert _ExactLoader.__mro__[1] is yaml.CSafeLoader


@pytest.mark.parametrize("text", ["{", "[]", '{"version": 1, "version": 1}', "NaN"])
def test_json_that_is_no_manifest_is_refused(text):
    with pytest.raises(ManifestError):
        Manifest.from_json(text)
