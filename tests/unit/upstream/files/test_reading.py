import json
from datetime import date, datetime

import duckdb
import pytest

from privacy.schema import Hierarchy
from upstream.files.long_texts import carried_bytes, carried_sql
from upstream.files.reading import ReadStatus, reader_of
from upstream.files.reading_sql import reading_steps
from upstream.manifests.declarations import ColumnSpec

ZONED = "%Y-%m-%dT%H:%M:%S%z"
WRITERS = {
    "integer": {"type": "integer"},
    "bounded": {"type": "integer", "domain": {"min": 0, "max": 120}},
    "listed": {"type": "integer", "domain": {"values": [1, 2]}},
    "required": {"type": "integer", "nullable": False, "domain": {"values": [1]}},
    "decimal": {"type": "decimal", "scale": 2},
    "whole": {"type": "decimal", "scale": 0},
    "wide": {"type": "decimal", "scale": 18},
    "priced": {"type": "decimal", "scale": 2, "domain": {"min": "-1.5", "max": 300}},
    "date": {"type": "date"},
    "era": {"type": "date", "domain": {"min": "2000-01-01", "max": "2020-12-31"}},
    "german": {"type": "date", "format": "%d.%m.%Y"},
    "mixed": {"type": "date", "formats": ["%d.%m.%Y", "%Y-%m-%d", "%d-%b-%Y"]},
    "clocks": {"type": "timestamp", "formats": ["%d.%m.%Y %H:%M", "%d.%m.%Y"]},
    "comma": {"type": "decimal", "scale": 2, "decimal": ",", "map": {"12.5": "7"}},
    "german_number": {
        "type": "decimal",
        "scale": 2,
        "decimal": ",",
        "thousands": ".",
        "domain": {"min": 0, "max": 5000},
    },
    "french": {"type": "decimal", "scale": 1, "decimal": ",", "thousands": " "},
    "swiss": {"type": "decimal", "scale": 2, "thousands": "'"},
    "counted": {"type": "integer", "thousands": ","},
    "bracket": {"type": "integer", "thousands": "]"},
    "short_years": {
        "type": "date",
        "formats": ["%d.%m.%y", "%d.%m.%Y"],
        "century": 1930,
    },
    "short_clock": {"type": "timestamp", "format": "%m/%d/%y %H:%M", "century": 1},
    "named": {"type": "date", "format": "%d-%b-%Y"},
    "timestamp": {"type": "timestamp"},
    "clock": {"type": "timestamp", "format": "%B %d, %Y (%H:%M:%S.%f)"},
    "unix": {"type": "timestamp", "format": "unix_seconds"},
    "millis": {
        "type": "timestamp",
        "format": "unix_milliseconds",
        "domain": {"min": "2020-01-01", "max": "2029-12-31"},
    },
    "noon": {"type": "timestamp", "format": "%m/%d/%Y %I:%M %p"},
    "zoned": {"type": "timestamp", "format": ZONED, "clock": "utc"},
    "local": {
        "type": "timestamp",
        "formats": [ZONED, "%Y-%m-%d %H:%M:%S.%f %z"],
        "clock": "as_written",
    },
    "boolean": {"type": "boolean", "map": {"Y": True, "N": False}},
    "text": {"type": "text", "null_values": ["?", "NA"]},
    "sex": {
        "type": "text",
        "map": {"M": "male", "F": "female", "X": "none of these", "-": None},
        "domain": {"values": ["male", "female"], "other": True},
    },
    "diagnosis": {
        "type": "text",
        "map": {"8": "008", "M": "X"},
        "domain": {"hierarchy": "icd9cm"},
    },
    "cause": {
        "type": "text",
        "nullable": False,
        "domain": {"hierarchy": "icd10cm"},
    },
    "town": {"type": "text", "domain": {"hierarchy": "towns"}},
    "short": {"type": "text", "max_length": 3},
    "long": {"type": "text", "max_length": 4_000, "nullable": False},
    "mapped": {"type": "text", "max_length": 9, "map": {"y" * 3_000: "long"}},
    "trimmed": {
        "type": "text",
        "trim": True,
        "map": {"f": "F", "-": None},
        "domain": {"values": ["F", "M"]},
    },
    "trimmed_short": {"type": "text", "trim": True, "max_length": 3},
    "quoted": {"type": "text", "domain": {"values": ["it's", 'a"b', "x\\y"]}},
}
TOWNS = Hierarchy("towns", ("land",), {"it's": ("a",), "other": (None,), "é": ("b",)})
MOMENT = datetime.fromisoformat("2024-01-01T10:11")
at = datetime.fromisoformat
HOSTILE = [
    None, "", " ", "0", "-0", "+0", "7", "007", "+7", "-7", " 7", "7 ", "1_000",
    "1e3", "1E3", "0x10", "1", "2", "120", "121", "-1", "9223372036854775807",
    "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "9" * 36,
    "9" * 37, "9" * 38, "9" * 60, "-" + "9" * 60, "0" * 60 + "5", "nan", "NaN",
    "-inf", "Infinity", "\u0131nf", "infinit", "1.5", "0.005", "0.015", "0.0150",
    "0.01500001", "-0.005", "-0.015", ".5", "5.", ".", "-", "+", "+.", "1.2.3", "1,5",
    "0.999", "0.995", "92233720368547758.07", "92233720368547758.075",
    "92233720368547758.065", "300.004", "300.005", "300.006", "9.3e0", "\u0661",
    "٣.٣", "1\n", "2024-02-29", "2023-02-29", "2024-2-9", "0000-01-01", "0001-01-01",
    "9999-12-31", "10000-01-01", "02024-01-01", "-0044-03-15", "+2024-01-01",
    "2024-01-01 ", "2024-13-01", "1999-12-31", "2021-01-01", "20240101", "2024-W01-1",
    "29.02.2024", "29.02.2023", "1.2.2024", "01.02.24", "29x02x2024", "03-Mar-2024",
    "3-MAR-2024", "03-Mrz-2024", "31-jun-2024", "2024-01-01 10:11",
    "2024-01-01T10:11:12", "2024-01-01 10:11:12.5", "2024-01-01 10:11:12.123456",
    "2024-01-01 10:11:12.1234567", "2024-01-01 24:00:00", "2024-01-01 23:59:60",
    "2024-01-01 10:60", "2024-01-01 10", "2024-01-01T10:11:12Z",
    "2024-01-01 10:11:12+01:00", "March 3, 2024 (4:05:06.7)",
    "Marth 3, 2024 (4:05:06.7)", "may 31, 2024 (24:00:00.0)",
    "May 31, 2024 (23:00:00.000001)", "true", "false", "True", "TRUE", "t", "Y", "N",
    "yes", "?", "NA", "na", "M", "F", "X", "-", "male", "Male", "other", "it's",
    'a"b', "x\\y", "x\\\\y", "é", "e\u0301", "\u2003x", "a\x00b", "x" * 5000,
    "\U0001f600", "null", "NULL",
    "9" * 1_001, "0" * 1_000 + "7", "x" * 1_000, "x" * 1_001, "\xe9" * 501,
    "y" * 3_000, "y" * 3_001, "\0sha256:", "\0sha256:5:ab",
    "1,5", "1.234,56", "1.23,4", "12.5", "1,2,3", ",5", "5,", "1.234", "-1.234.567,891",
    "1 234,5", "1\u00a0234,5", "1\u202f234\u00a0567", "1'234.5", "1\u2019234.56",
    "1,234", "12,34", "1,234,567", "0,000", "1]234", "01.02.2024 07:08",
    "1.2.2024 24:00", "01.02.30", "1.2.29", "29.02.00", "29.02.99", "01.02.1",
    "01.02.99 ", "02/01/24 07:08", "02/01/00 07:08", "13/01/24 07:08",
    " F ", "\u00a0f\u2003", "F\t", " - ", "\u200bF", "ab \n", " " * 999 + "F",
    "1709280000", "1709280000.25", "-1", "-1.5", "-0.000001", "999999999999",
    "-999999999999", "253402300799", "253402300800", "-62135596800", "-62135596801",
    "1709280000.1234567", "1709280000123", "-1709280000123", "999", "12",
    "03/01/2024 12:00 AM", "03/01/2024 12:30 pm", "3/1/2024 1:05 Am",
    "03/01/2024 0:05 AM", "03/01/2024 13:05 PM", "02/30/2024 1:05 PM",
    "2024-03-01T10:00:00Z", "2024-03-01T10:00:00+01:00", "2024-03-01T00:30:00+0530",
    "2024-03-01T23:30:00-08", "2024-03-01T10:00:00+19:00", "2024-03-01T10:00:00+01:60",
    "2024-03-01T10:00:00z",
    "2024-02-30T10:00:00+01:00", "0001-01-01T00:30:00+01:00",
    "9999-12-31T23:30:00-01:00", "0000-01-01T00:30:00-01:00",
    "2024-03-01 10:00:00.5 +01:00", "2024-03-01 24:00:00.5 Z",
    " " * 1_000 + "F", "250.83", "e812.0", "8", "V1", "e11.9", "C4A.0", "E11.99999",
]  # fmt: skip


def spec(name):
    column = ColumnSpec.model_validate({"name": "c", **WRITERS[name]})
    if column.domain is not None:
        column.domain.attach({"towns": TOWNS})
    return column


def read_in_duckdb(reader, raws):
    steps = reading_steps(reader, 0)
    carried = carried_sql("r0", carried_bytes(reader.column))
    layers = "SELECT unnest(range(?)) AS i, unnest(?::VARCHAR[]) AS r0"
    layers = f"SELECT * REPLACE ({carried} AS r0) FROM ({layers})"
    for name, expression in (
        ("n0", steps.present),
        ("f0", steps.readable),
        ("p0", steps.parsed),
        ("v0", steps.value),
        ("s0", steps.outcome),
    ):
        layers = f"SELECT *, {expression} AS {name} FROM ({layers})"
    rows = (
        duckdb.connect()
        .sql(f"SELECT v0, s0 FROM ({layers}) ORDER BY i", params=[len(raws), raws])
        .fetchall()
    )
    return [(value, ReadStatus(number)) for value, number in rows]


@pytest.mark.parametrize("name", WRITERS)
def test_duckdb_reads_every_hostile_text_as_the_page_of_rules_does(name):
    reader = reader_of(spec(name))
    expected = [reader.read(raw) for raw in HOSTILE]
    found = read_in_duckdb(reader, HOSTILE)
    refused = {ReadStatus.UNREADABLE, ReadStatus.NULL_REFUSED}
    for raw, (value, outcome), (in_sql, outcome_in_sql) in zip(
        HOSTILE, expected, found, strict=True
    ):
        assert outcome == outcome_in_sql, json.dumps(raw)
        if outcome not in refused:
            assert (type(value), value) == (type(in_sql), in_sql), json.dumps(raw)


@pytest.mark.parametrize(
    ("name", "raw", "value", "outcome"),
    [
        ("integer", "-9223372036854775808", -(2**63), ReadStatus.KEPT),
        ("integer", "9223372036854775808", None, ReadStatus.UNREADABLE),
        ("integer", "1e3", None, ReadStatus.UNREADABLE),
        ("integer", " 7", None, ReadStatus.UNREADABLE),
        ("integer", "NaN", None, ReadStatus.TO_NULL),
        ("integer", "", None, ReadStatus.KEPT),
        ("bounded", "9" * 60, 120, ReadStatus.CLAMPED),
        ("listed", "3", None, ReadStatus.TO_NULL),
        ("required", "", None, ReadStatus.NULL_REFUSED),
        ("required", "2", None, ReadStatus.NULL_REFUSED),
        ("decimal", "0.005", 0, ReadStatus.ROUNDED),
        ("decimal", "0.015", 2, ReadStatus.ROUNDED),
        ("decimal", "-0.0250001", -3, ReadStatus.ROUNDED),
        ("decimal", "92233720368547758.07", 2**63 - 1, ReadStatus.KEPT),
        ("priced", "-2", -150, ReadStatus.CLAMPED),
        ("date", "2024-02-30", None, ReadStatus.TO_NULL),
        ("date", "10000-01-01", None, ReadStatus.TO_NULL),
        ("date", "01/02/2024", None, ReadStatus.UNREADABLE),
        ("era", "1900-05-05", date(2000, 1, 1), ReadStatus.CLAMPED),
        ("german", "1.2.2024", date(2024, 2, 1), ReadStatus.KEPT),
        ("german", "2024-02-01", None, ReadStatus.UNREADABLE),
        ("timestamp", "2024-01-01T10:11", MOMENT, ReadStatus.KEPT),
        ("timestamp", "2024-01-01T10:11Z", None, ReadStatus.UNREADABLE),
        ("unix", "1709287860", at("2024-03-01 10:11"), ReadStatus.KEPT),
        ("unix", "-1.5", at("1969-12-31 23:59:58.5"), ReadStatus.KEPT),
        ("unix", "253402300800", None, ReadStatus.TO_NULL),
        ("unix", "2024-03-01", None, ReadStatus.UNREADABLE),
        ("millis", "1709287860123", at("2024-03-01 10:11:00.123"), ReadStatus.KEPT),
        ("millis", "123", at("2020-01-01"), ReadStatus.CLAMPED),
        ("noon", "3/1/2024 12:05 am", at("2024-03-01 00:05"), ReadStatus.KEPT),
        ("noon", "03/01/2024 12:05 PM", at("2024-03-01 12:05"), ReadStatus.KEPT),
        ("noon", "03/01/2024 13:05 PM", None, ReadStatus.UNREADABLE),
        ("zoned", "2024-03-01T00:30:00+01:00", at("2024-02-29 23:30"), ReadStatus.KEPT),
        ("zoned", "2024-03-01T23:30:00-0530", at("2024-03-02 05:00"), ReadStatus.KEPT),
        ("zoned", "2024-03-01T10:00:00Z", at("2024-03-01 10:00"), ReadStatus.KEPT),
        ("zoned", "0001-01-01T00:30:00+01:00", None, ReadStatus.TO_NULL),
        ("local", "2024-03-01T00:30:00+01:00", at("2024-03-01 00:30"), ReadStatus.KEPT),
        ("boolean", "Y", True, ReadStatus.KEPT),
        ("boolean", "TRUE", None, ReadStatus.UNREADABLE),
        ("trimmed", "\u00a0f ", "F", ReadStatus.KEPT),
        ("short_years", "01.02.30", date(1930, 2, 1), ReadStatus.KEPT),
        ("short_years", "1.2.29", date(2029, 2, 1), ReadStatus.KEPT),
        ("short_years", "01.02.2030", date(2030, 2, 1), ReadStatus.KEPT),
        ("trimmed", " - ", None, ReadStatus.KEPT),
        ("trimmed", "  ", None, ReadStatus.KEPT),
        ("trimmed_short", " abc ", "abc", ReadStatus.KEPT),
        ("text", "", "", ReadStatus.KEPT),
        ("text", "?", None, ReadStatus.KEPT),
        ("diagnosis", "250.83", "250.83", ReadStatus.KEPT),
        ("diagnosis", "8", "008", ReadStatus.KEPT),
        ("diagnosis", "7", None, ReadStatus.TO_NULL),
        ("diagnosis", "M", None, ReadStatus.TO_NULL),
        ("cause", "e11.9", "e11.9", ReadStatus.KEPT),
        ("cause", "E11.99999", None, ReadStatus.NULL_REFUSED),
        ("town", "other", "other", ReadStatus.KEPT),
        ("town", "Other", None, ReadStatus.TO_NULL),
        ("sex", "M", "male", ReadStatus.KEPT),
        ("sex", "diverse", "other", ReadStatus.TO_OTHER),
        ("sex", "X", "other", ReadStatus.TO_OTHER),
        ("sex", "-", None, ReadStatus.KEPT),
        ("sex", "other", "other", ReadStatus.KEPT),
    ],
)  # fmt: skip
def test_a_text_becomes_the_value_that_the_contract_says(name, raw, value, outcome):
    assert reader_of(spec(name)).read(raw) == (value, outcome)
