"""Parquet files with columns that no load reads are drafted without these."""

import duckdb

from upstream.drafting.drafting import draft_manifest

NESTED = """\
SELECT 1 AS pid, [1, 2] AS doses, {'a': 1} AS kind, 'x'::BLOB AS picture,
TIME '10:00:00' AS clock, TIMESTAMPTZ '2024-01-01 10:00:00+00' AS seen,
INTERVAL 1 DAY AS lasted, MAP {'a': 1} AS held, 7 AS beds,
'a7f1c0de-0000-4000-8000-000000000001'::UUID AS key
"""


def test_columns_that_no_load_reads_are_left_out_by_name_with_the_reason(tmp_path):
    path = tmp_path / "t.parquet"
    duckdb.connect().sql(NESTED).write_parquet(str(path))
    text = draft_manifest([path], ["pid"])
    for name, words in (
        ("doses", "list, which is not read: store it as text"),
        ("kind", "struct, which is not read: store it as text"),
        ("picture", "binary, which is not read: store it as text"),
        ("clock", "time, which is not read: store it as text"),
        ("seen", "timestamp with time zone, which is not read: store it without zone"),
        ("held", "map, which is not read: store it as text"),
    ):
        assert f'  # left out: "{name}" has the type {words}' in text
        assert f"name: {name}," not in text
    for name in ("pid", "beds", "key"):
        assert f"  - {{name: {name}," in text


def test_an_end_value_is_asked_about_as_a_load_reads_it(tmp_path):
    rows = "SELECT n AS pid, CASE WHEN n % 9 = 0 THEN -1 ELSE n END::DOUBLE AS v"
    made = duckdb.connect().sql(f"{rows} FROM range(40) t(n)")
    made.write_parquet(str(tmp_path / "t.parquet"))
    text = draft_manifest([tmp_path / "t.parquet"], ["pid"])
    assert 'null_values: ["", "TODO -1"], domain: {min: 0' in text
