"""JSON objects are stored as the rows that they mean, or refused at their place."""

import gzip
import io
import json
import zipfile
from datetime import date

import pytest
from backports import zstd
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.upstream.public_check.test_published_ids import IDS
from upstream.errors import IngestionError, ManifestError
from upstream.files.exports import json_objects, json_rows
from upstream.files.exports.file_parts import FilePart
from upstream.files.exports.inner_names import inner_names
from upstream.files.exports.json_rows import JsonRows, json_records
from upstream.manifests.declarations import TableSpec
from upstream.manifests.file_specs import JsonSpec
from upstream.manifests.manifest import load_manifest

VISITS = [
    {
        "patient": {"id": 7, "name": "A;\nB"},
        "day": "2024-01-03",
        "weight": 71.50,
        "urgent": True,
        "dx": [{"code": "I10", "rank": 1}, {"code": "E11"}],
    },
    {"patient": {"id": 8}, "day": None, "weight": 1e-2, "urgent": False, "dx": []},
    {"urgent": None, "patient": {"id": 9, "name": "ü"}, "dx": None},
]
LINES = "".join(f"{json.dumps(one)}\n" for one in VISITS)
COLUMNS = [
    {"name": "pid", "from": "patient_id", "type": "integer"},
    {"name": "day", "type": "date"},
    {"name": "weight", "type": "decimal", "scale": 2},
    {"name": "urgent", "type": "boolean"},
    {"name": "name", "from": "patient_name", "type": "text"},
]
ROWS = [
    (None, 1, False, None),
    (None, None, None, "ü"),
    (date(2024, 1, 3), 7150, True, "A;\nB"),
]
DIAGNOSES = [
    {"name": "pid", "from": "patient_id", "type": "integer"},
    {"name": "code", "from": "dx_code", "type": "text"},
    {"name": "rank", "from": "dx_rank", "type": "integer"},
    {"name": "day", "type": "date"},
]


def records(text, name="v.ndjson", path=(), wanted=(), *, keeps_lists=False):
    raw = text if isinstance(text, bytes) else text.encode()
    rows = JsonRows(path, keeps_lists=keeps_lists)
    return [fields for _, fields in json_records(io.BytesIO(raw), name, rows, wanted)]


def problem(text, name="v.ndjson", path=(), wanted=()):
    with pytest.raises(IngestionError) as refusal:
        records(text, name, path, wanted)
    (found,) = refusal.value.problems
    return found


@pytest.fixture
def visits(hospital):
    hospital.csv = None
    hospital.columns = [dict(column) for column in COLUMNS]
    return hospital


def write(hospital, content, name):
    raw = content if isinstance(content, bytes) else content.encode()
    (hospital.folder / name).write_bytes(raw)
    hospital.table["files"] = [name]


def in_zip(content):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("export.json", content)
    return packed.getvalue()


WRITTEN = {
    "v.ndjson": LINES.encode(),
    "v.jsonl": b"\xef\xbb\xbf" + LINES.replace("\n", "\r\n\n").encode(),
    "v.json": json.dumps(VISITS, indent=2).encode(),
    "lines.json": LINES.encode(),
    "wide.ndjson": LINES.encode("utf-16"),
    "v.ndjson.gz": gzip.compress(LINES.encode()),
    "v.ndjson.zst": zstd.compress(LINES.encode()),
    "v.ndjson.zip": in_zip(LINES),
    "v.json.zip": in_zip(json.dumps(VISITS)),
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", WRITTEN)
def test_the_same_objects_are_the_same_rows_however_they_are_written(visits, name):
    write(visits, WRITTEN[name], name)
    assert sorted(visits.rows(), key=str) == ROWS


def test_objects_hash_as_the_same_rows_of_csv_do(visits):
    write(visits, LINES, "v.ndjson")
    hashes = visits.rows("unit_key, row_hash")
    (visits.folder / "v.csv").write_text(
        'patient_id,day,weight,urgent,patient_name\n7,2024-01-03,71.5,true,"A;\nB"\n'
        "8,,0.01,false,\n9,,,,ü\n"
    )
    visits.table["files"], visits.target = ["v.csv"], "other.duckdb"
    assert visits.rows("unit_key, row_hash") == hashes


def test_elements_of_a_list_are_rows_with_the_fields_around_them(visits):
    visits.columns = DIAGNOSES
    write(visits, LINES, "v.ndjson")
    visits.table["json"] = {"list": "dx"}
    day = date(2024, 1, 3)
    assert sorted(visits.rows(), key=str) == [("E11", None, day), ("I10", 1, day)]


NESTED = (
    '{"p": 1, "v": {"in": [{"d": 1, "x": ["a", "b"]}, {"d": 2, "x": []}]}}\n'
    '{"p": 2, "v": {"in": [{"d": 3, "x": ["c"]}]}}\n{"p": 3, "v": {}}\n'
)


def test_lists_within_lists_are_reached_by_a_longer_path():
    assert records(NESTED, path=("v", "in", "x")) == [
        ["p", "v_in_d", "v_in_x"], ["1", "1", "a"], ["1", "1", "b"], ["2", "3", "c"],
    ]  # fmt: skip
    assert records(NESTED, path=("v", "in"))[1:] == [["1", "1"], ["1", "2"], ["2", "3"]]


def test_of_several_lists_the_table_names_one():
    text = '{"of": 1, "a": [{"x": 1}, {"y": 2}], "b": [{"x": 3, "z": [{"k": 4}]}]}'
    said = problem(text, "v.json").sentence
    assert "one object around lists of objects (a, b): name the table's" in said
    assert "with json: {list: a}" in said
    assert records(text, "v.json", ("a",)) == [
        ["of", "a_x", "a_y"], ["1", "1", ""], ["1", "", "2"],
    ]  # fmt: skip
    assert records(text, "v.json", ("b", "z")) == [
        ["of", "b_x", "b_z_k"], ["1", "3", "4"]
    ]  # fmt: skip


def test_an_object_alone_is_read_as_it_is_beside_others():
    """Whether another patient's stands beside it may not decide what it is."""
    one = '{"pid": 2, "dx": [{"pid": 2, "code": "I10"}]}'
    both = f'{{"pid": 1, "dx": []}}\n{one}'
    assert records(both, "v.json") == [["pid"], ["1"], ["2"]]
    assert "one object around lists" in problem(one, "v.json").sentence
    assert records(one, "v.ndjson") == [["pid"], ["2"]]
    for text, name in ((one, "v.json"), (both, "v.json"), (one, "v.ndjson")):
        assert records(text, name, ("dx",))[1:] == [["2", "2", "I10"]]


def test_declared_fields_are_columns_whoever_has_them(visits):
    """One patient's row alone had made another's absent texts empty ones."""
    columns = [("a",), ("b", "old_b"), ("c",)]
    others = '{"a": 1}\n{"a": 2}'
    hers = f'{others}\n{{"a": 3, "old_b": "x", "c": "y"}}'
    assert records(others, wanted=columns) == [
        ["a", "b", "c"], ["1", "", ""], ["2", "", ""],
    ]  # fmt: skip
    assert records(hers, wanted=columns)[:3] == [
        ["a", "old_b", "c"], ["1", "", ""], ["2", "", ""],
    ]  # fmt: skip
    assert records("", wanted=columns) == [["a", "b", "c"]]
    assert records("[]", "v.json", wanted=columns) == [["a", "b", "c"]]
    visits.columns[1]["nullable"] = True
    write(visits, '{"patient_id": 7, "day": "2024-01-03"}', "v.ndjson")
    assert visits.rows() == [(date(2024, 1, 3), None, None, None)]


def test_an_object_without_lists_is_one_row():
    assert records('{"a": 1, "b": {"c": "x"}}', "v.json") == [["a", "b_c"], ["1", "x"]]


def test_numbers_stay_as_they_are_written_but_for_exponents():
    long = "9" * 5_000
    text = f'{{"a": 0.10, "b": {long}, "c": 1.5E3, "d": 2e-4, "e": 1e999999999}}'
    assert records(text)[1] == ["0.10", long, "1500", "0.0002", "1e999999999"]


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=4)
LEAVES = st.none() | st.booleans() | st.integers() | TEXTS
OBJECTS = st.fixed_dictionaries({"a": LEAVES}, optional={"b": LEAVES})


def text_of(value):
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value)


@given(st.lists(OBJECTS, min_size=1, max_size=4))
def test_what_a_library_writes_is_read_back(objects):
    names = list(dict.fromkeys(name for one in objects for name in one))
    rows = [[text_of(one.get(name)) for name in names] for one in objects]
    assert records(json.dumps(objects), "v.json") == [names, *rows]
    assert records("\n".join(map(json.dumps, objects))) == [names, *rows]


WIDE = json.dumps({str(n): n for n in range(2_001)})
DEEP = '{"a":' * 40 + "1" + "}" * 40
TROUBLES = [
    ('{"a_b": 1}\n{"a": {"b": 2}}', 2, "a_b and a.b are two fields, and would both be"),
    ('{"a": 1}\n[1]\n{"a"\n7', 2, "no JSON object in lines 2, 3, 4: write one object"),
    ('\n{"a": 1', 2, "if the file was cut off, export it again"),
    ('{"a": 1, "a": 2}', 1, "an object has the field 'a' twice"),
    ('{"a": NaN}', 1, "NaN is no JSON: write null"),
    ('{"a": 1}\n{"a": -Infinity}', 2, "-Infinity is no JSON"),
    (r'{"a": "x\u0000"}', 1, "a text has a NUL"),
    (r'{"a": "\ud800"}', 1, "half a character"),
    (r'{"a\udfff": 1}', 1, "half a character"),
    (b'{"a": "\xe4"}', None, "neither UTF-8 nor UTF-16 with a byte order mark"),
    (DEEP, 1, "is nested deeper than 32 levels"),
    ('{"a": ' + "[" * 100_000, 1, "is nested too deeply to be a row"),
    ("", None, "holds no object with a field"),
    ("{}\n{}", None, "holds no object with a field"),
    (WIDE, 1, "more than 2,000 names of fields"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "words"), TROUBLES)
def test_each_trouble_has_its_own_words_and_line(text, line, words):
    found = problem(text)
    assert (found.line, words in found.sentence) == (line, True), found


OF_WHOLE = [
    ('[{"a": 1},\n {"a": 2', None, "no JSON from line 2, column 9 on"),
    ('[{"a": 1},]', None, "no JSON from line 1"),
    ('[{"a": 1} {"a": 2}]', None, "no JSON from line 1"),
    ('[{"a": 1}] x', None, "no JSON from line 1, column 12 on"),
    ('{"a": 1,}', None, "no JSON from line 1"),
    ('{"a" 1}', None, "no JSON from line 1"),
    ('{"r": [{"a": 1}]', None, "no JSON from line 1"),
    ('[{"a": 1}, 7]', 2, "no object: each element of the list is a row"),
    ('[{"a": 1}, {"a": NaN}]', 2, "NaN is no JSON"),
    ('[{"a": 1}, {"a": 1, "a": 2}]', 2, "an object has the field 'a' twice"),
    ('{"r": 1, "r": 2}', None, "an object has the field 'r' twice"),
    (f'[{{"a": 1}}, {"[" * 100_000}', 2, "is nested too deeply"),
    (f'{{"a": {"[" * 100_000}', None, "is nested too deeply"),
    ("7", None, "holds neither a list of objects nor an object"),
    ("", None, "holds neither a list of objects nor an object"),
    ("[]", None, "holds no object with a field"),
]


@pytest.mark.parametrize(("text", "line", "words"), OF_WHOLE)
def test_a_list_that_cannot_be_read_is_refused(text, line, words):
    found = problem(text, "v.json")
    assert (found.line, words in found.sentence) == (line, True), found


OF_LISTS = [
    ('{"a": 1, "l": [[1]]}', "l holds lists within a list, which have no names"),
    ('{"l": [{"a": 1}]}\n{"l": "x"}', "l is no list here, as in other rows"),
    ('{"l": [{"a": 1}]}\n{"l": {"a": 1}}', "l is no list here, as in other rows"),
    ('{"a": 1}', "holds no object in a list l with a field"),
    ('{"l_a": 1, "l": [{"a": 1}]}', "l_a and l.a are two fields"),
]


@pytest.mark.parametrize(("text", "words"), OF_LISTS)
def test_a_list_that_is_none_is_refused(text, words):
    assert words in problem(text, path=("l",)).sentence


def test_values_in_the_place_of_objects_with_a_list_are_refused():
    said = problem('{"l": [{"m": [1]}, 2]}', path=("l", "m")).sentence
    assert "l holds values, and no list l.m" in said


def test_a_list_that_is_declared_as_a_column_is_refused():
    text = '{"a": 1, "v": {"dx": "I10"}}\n{"a": 1, "v": {"dx": ["I10"]}}'
    said = problem(text, wanted=[("v_dx",)]).sentence
    assert "v.dx is a list, and no column: a table of its own reads it" in said
    assert "json: {list: v.dx}" in said


def test_what_is_read_at_once_is_bounded(monkeypatch):
    monkeypatch.setattr(json_objects, "MOST_WHOLE_BYTES", 20)
    monkeypatch.setattr(json_objects, "LONGEST_LINE", 20)
    said = problem(f'[{{"a": "{"x" * 20}"}}]', "v.json").sentence
    assert "the most that is read of one list: export NDJSON instead" in said
    found = problem(f'{{"a": 1}}\n{{"a": "{"x" * 20}"}}')
    assert (found.line, "this line is longer" in found.sentence) == (2, True)


def test_a_long_text_beside_many_elements_is_refused(monkeypatch):
    monkeypatch.setattr(json_rows, "_MOST_REPEATED", 1_000)
    text = json.dumps({"note": "x" * 100, "l": list(range(20))})
    said = problem(text, path=("l",)).sentence
    assert "the texts beside the list l are too long for it" in said


def test_no_value_of_a_row_is_told(visits):
    write(visits, '{"patient": {"id": "secret"}, "day": "hidden"}', "v.ndjson")
    with pytest.raises(IngestionError) as refusal:
        visits.load()
    assert "hidden" not in str(refusal.value)


def test_a_value_that_cannot_be_read_is_told_with_its_line(visits):
    write(visits, LINES + '{"patient": {"id": 5}, "day": "soon"}\n', "v.ndjson")
    with pytest.raises(IngestionError) as refusal:
        visits.load()
    assert str(refusal.value).startswith("v.ndjson:4")


def test_objects_without_the_tables_fields_say_how_fields_are_named(visits):
    write(visits, '{"visit": {"x": 1}}', "v.ndjson")
    with pytest.raises(IngestionError, match=r"named by both \(patient_id\)"):
        visits.load()


def test_all_lists_of_a_public_table_are_compared_with_unit_ids(hospital):
    hospital.unit_type = "text"
    hospital.column("pid", type="text")
    hospital.csv = "pid,day,ward\n" + "".join(f"{uid},,A\n" for uid in IDS)
    hospital.more_tables = [
        {"name": "codes", "files": ["codes.json"], "public": True,
         "columns": [{"name": "code", "type": "text"}]}
    ]  # fmt: skip
    codes = hospital.folder / "codes.json"
    codes.write_text(json.dumps([{"code": "a", "words": ["b", "c"]}]))
    hospital.load()
    hospital.target = "other.duckdb"
    held = [{"code": f"c{n}", "words": [uid]} for n, uid in enumerate(IDS)]
    codes.write_text(json.dumps(held))
    with pytest.raises(IngestionError, match="ids of population p"):
        hospital.load()


def manifest(tmp_path, keys):
    path = tmp_path / "m.yaml"
    path.write_text(f"tables:\n- name: t\n  {keys}\n")
    with pytest.raises(ManifestError) as refusal:
        load_manifest(path)
    return str(refusal.value)


def test_the_manifest_says_where_json_belongs(tmp_path):
    said = manifest(tmp_path, 'files: ["a.csv"]\n  json: {lists: x}')
    assert "unknown key 'lists': did you mean list?" in said


def test_the_names_on_the_way_to_a_list_are_names_within_a_file(tmp_path):
    (tmp_path / "a.json").write_text('{"P0001": [{"code": "x"}]}')
    part = FilePart(tmp_path / "a.json", "a.json")
    table = TableSpec.model_construct(name="t", public=True, columns=())
    assert inner_names(table, part, tmp_path) == ("P0001",)
    spec = JsonSpec.model_validate({"list": "v.P7"})
    chosen = TableSpec.model_construct(name="t", public=True, json=spec, columns=())
    assert inner_names(chosen, part, tmp_path)[:2] == ("v", "P7")


def test_of_private_rows_what_nobody_reads_is_not_copied():
    """One patient's fields would else be columns of every row, as the time tells."""
    rows = ['{"a": 1, "b": 2}'] * 3
    wide = json.dumps({"a": 1, **{f"f{n}": "x" for n in range(5_000)}})
    wanted = [("a",), ("b",)]
    assert records("\n".join([*rows, wide]), wanted=wanted) == [
        ["a", "b"], *[["1", "2"]] * 3, ["1", ""]
    ]  # fmt: skip
    public = records('{"a": 1, "c": 2}', wanted=wanted, keeps_lists=True)
    assert public == [["a", "c", "b"], ["1", "2", ""]]  # all is compared with ids


def test_a_file_of_other_fields_alone_is_not_taken_for_an_empty_one():
    assert records('{"c": 1, "d": 2}', wanted=[("a",), ("b",)])[0] == ["c"]


def test_two_columns_of_one_field_are_there_once_where_no_object_has_it():
    wanted = [("a",), ("code",), ("code",)]
    assert records('{"a": 1}', wanted=wanted) == [["a", "code"], ["1", ""]]
