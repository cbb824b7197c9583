"""What a draft makes of a column's values, and what it says where it takes a text."""

import re
from datetime import date

import pytest
import yaml

from tests.support.workbooks import write_workbook
from upstream.drafting.drafting import draft_manifest


def drafted(path, name):
    """Return the drafted line of a column, and the comments right above it."""
    text = draft_manifest([path], ["pid"])
    assert yaml.safe_load(text)["tables"]
    return re.search(rf"((?:  #.*\n)*)  - \{{name: {name}.*", text)[0]


def of_texts(tmp_path, values, name="v"):
    rows = "".join(f'{n};"{value}"\n' for n, value in enumerate(values, 1))
    (tmp_path / "t.csv").write_text(f"pid;{name}\n{rows}", encoding="utf-8")
    return drafted(tmp_path / "t.csv", name)


@pytest.mark.parametrize(
    ("values", "words", "said"),
    [
        (["01/02/22", "03/04/21"], 'format: "TODO %d/%m/%y", century: TODO', "as %m"),
        (["1.12.22", "24.1.85"], 'type: date, format: "%d.%m.%y", century', "from whi"),
        (
            ["01-JAN-22", "12-DEC-85"],
            'format: "%d-%b-%y", century: TODO',
            "none lies after",
        ),
        (["24.12.22", "24/12/1921"], "century: TODO", "export all so, if any are old"),
        (["01MAR2024", "12DEC1985"], 'type: date, format: "%d%b%Y"', ""),
        (["20220304", "19851231"], 'type: date, format: "%Y%m%d", dom', "in digits"),
        (["20220304101500"], 'timestamp, format: "%Y%m%d%H%M%S"', "in digits"),
        (["20220304", "19851331"], "type: integer", ""),
        (["1'500,5", "22'000,25"], 'decimal: ",", thousands: "\'"', ""),
        (["$1,234.00", "$12.50"], "type: text}", "sign of a currency"),
        (["62,3 kg", "80 kg"], "type: text}", "followed by a unit"),
        (["12 mmol/l", "3.5 mmol/l"], "type: text}", "followed by a unit"),
        (["'62'", "'71'"], "type: text}", "apostrophes"),
        (["1e5", "2.5e3", "7.25"], "type: text}", "with an exponent"),
        (["12,5", "13.25", "1,75", "3.5"], "type: text}", "export them alike"),
        (["10:30", "7:15"], "type: text}", "times of day"),
        (
            ["1709287860", "1609287860"],
            'timestamp, format: "TODO unix_seconds"',
            "in UTC",
        ),
        (["1709287860123"], 'timestamp, format: "TODO unix_milliseconds"', "in UTC"),
        (["1709287860", "12"], "type: integer", ""),
        (["T", "N", "N"], "type: boolean", "if they are others here, write type: text"),
        (["J", "N", "N"], "type: boolean", ""),
        (["T", "F", "0", "1", "1"], "type: boolean}", "write type: text"),
        (["T", "F", "0", "1", "1", "0"], "type: boolean}", "write type: text"),
        (["T", "F"], "type: boolean}", "if they are others here, write type: text"),
        (["Y", "1", "0"], "type: boolean}", ""),
        (
            ["2024-03-01T10:00:00+01:00", "2024-07-01T10:00:00Z"],
            'format: "%Y-%m-%dT%H:%M:%S%z", clock: TODO as_written',
            "does the time of day that stands there count",
        ),
        (["2024-03-01T10:00:00.5Z"], '"%Y-%m-%dT%H:%M:%S.%fZ"', "in UTC"),
        (
            ["03/21/2024 1:05 PM", "3/1/2024 11:00 AM"],
            '"%m/%d/%Y %I:%M %p", domain: {min: "2020-01-01 00:00:00", max: "2029-1',
            "",
        ),
    ],
)
def test_what_values_look_like_is_declared_or_said(tmp_path, values, words, said):
    found = of_texts(tmp_path, values * 3)
    table = draft_manifest([tmp_path / "t.csv"], ["pid"])
    marks = "".join(re.findall(r"  (?:decimal|thousands): .*", table))
    where = marks.replace("  thousands", ", thousands") if "'\"" in words else found
    assert words in where.strip()
    assert said in found
    assert not any(value in found for value in values)


@pytest.mark.parametrize(
    ("values", "domain"),
    [
        (["-0.4", "0.25", "0.4"], "{min: -2, max: 1}"),
        (["-2.4", "19.6"], "{min: -5, max: 20}"),
        (["0.5", "20.0"], "{min: 0, max: 50}"),
    ],
)
def test_a_proposed_domain_holds_all_fractions(tmp_path, values, domain):
    assert f"domain: {domain}" in of_texts(tmp_path, values * 4)


def test_a_listed_other_takes_the_place_of_what_is_not_listed(tmp_path):
    found = of_texts(tmp_path, ["male", "female", "other"] * 4, "sex")
    assert 'values: ["male", "female", "other", "unknown"]}' in found


@pytest.mark.parametrize(
    ("day", "none"),
    [
        ("{:02}/05/2023", "00/00/0000"),
        ("{:02}.05.2023", "00.00.0000"),
        ("2023-05-{:02}", "0000-00-00"),
    ],
)
def test_days_of_zeros_are_asked_about(tmp_path, day, none):
    values = [*(day.format(n) for n in range(1, 29)), *[none] * 40]
    found = of_texts(tmp_path, values)
    assert "type: date" in found
    assert f'null_values: ["", "TODO {none}"]' in found
    assert "take TODO away from the words" in found


def test_days_beside_other_texts_are_in_one_form(tmp_path):
    days = [f"{n % 28 + 1:02}/{n % 12 + 1:02}/2023" for n in range(60)]
    found = of_texts(tmp_path, [*days, *(f"see p. {n}" for n in range(40))])
    assert "days (%d/%m/%Y), but 40 % are none: a text" in found


def test_ids_of_ten_digits_are_no_times(tmp_path):
    ids = [str(1_003_000_126 + 7_919 * n) for n in range(40)] * 2
    assert "type: integer" in of_texts(tmp_path, ids, "npi")
    assert 'format: "TODO unix_seconds"' in of_texts(tmp_path, ids, "ts")


def test_days_beside_days_that_a_sheet_counts_are_told(tmp_path):
    cells = [date(2024, 1, 1), 45293, date(2024, 1, 3), 45294]
    rows = [[n, cell] for n, cell in enumerate(cells * 5)]
    write_workbook(tmp_path / "t.xlsx", {"A": [["pid", "v"], *rows]})
    found = drafted(tmp_path / "t.xlsx", "v")
    assert "days, but 50 % are numbers that may be days as spreadsheets" in found


def test_a_column_of_a_sheet_without_values_is_told_and_keeps_to_nothing(tmp_path):
    rows = [[n // 2, None, 30 + n // 2] for n in range(20)]
    heading = ["pid", "Mass\nkg", "v"]
    write_workbook(tmp_path / "t.xlsx", {"A": [heading, *rows]})
    text = draft_manifest([tmp_path / "t.xlsx"], ["pid"])
    assert re.search("# no value in any row: if formulas .*: mass_kg\n", text)
    assert not re.search("constant_in_unit: true: .*mass_kg", text)
    assert 'from: "Mass kg"' in text


def test_yes_no_and_unknown_are_proposed_as_a_list(tmp_path):
    found = of_texts(tmp_path, ["Y", "N", "U"] * 4)
    assert 'domain: {values: ["Y", "N", "U"], other: true}' in found


def test_the_words_of_a_sex_are_proposed_as_a_public_list(tmp_path):
    for values in (
        ["Male", "Female", "Unknown"],
        ["männlich", "weiblich", "divers"],
        ["FEMALE", "MALE", "UNKNOWN"],
    ):
        found = of_texts(tmp_path, values, "sex")
        assert "domain: {values: [" in found
        assert 'source: "TODO proposed' in found


def test_a_sheet_mixes_numbers_and_texts_with_a_decimal_comma(tmp_path):
    rows = [["pid", "crp", "age"]]
    rows += [[n, 7.25 if n % 3 else "12,5", 30 + n] for n in range(1, 40)]
    write_workbook(tmp_path / "t.xlsx", {"Labor": rows})
    found = drafted(tmp_path / "t.xlsx", "crp")
    assert "type: decimal, scale: 2" in found
    assert "cells of numbers are what they are" in found
    text = draft_manifest([tmp_path / "t.xlsx"], ["pid"])
    assert '  decimal: ","' in text


@pytest.mark.parametrize(
    ("values", "words", "said"),
    [
        (["x", "", ""], 'null_values: [], map: {"x": true, "": TODO false}', "no (f"),
        (
            ["Y", "-"],
            'map: {"Y": true, "": TODO false, "-": TODO false}',
            "yes, or",
        ),
        (["1", "", "1"], 'boolean, null_values: [], map: {"1": true', "says yes"),
        (
            ["1,25", "2,5", "3,75", "n.b.", "10,5"],
            'decimal, scale: 2, null_values: ["", "TODO n.b."]',
            "numbers beside words",
        ),
        (
            ["1,25", "2,5", "<0,5", "7,5", "clotted"],
            'null_values: ["", "TODO clotted"], map: {"<0,5": TODO 0.5}',
            "map gives each as a number",
        ),
        (["10", "9", "NR"], 'integer, null_values: ["", "TODO NR"]', "beside words"),
        (
            ["01.02.2024", "17.03.2024", "laufend"],
            'date, null_values: ["", "TODO laufend"], format: "%d.%m.%Y"',
            "days beside words",
        ),
        (["2024-03-01", "02/03/2024"], '["%Y-%m-%d", "TODO %d/%m/%Y"]', "as %m/%d"),
    ],
)
def test_what_values_may_mean_is_asked_and_holds_a_load_up(
    tmp_path, values, words, said
):
    found = of_texts(tmp_path, values * 3)
    assert words in found
    assert said in found


def test_results_beside_words_are_told_as_both(tmp_path):
    limits = [f"<{n},5" for n in range(12)]
    found = of_texts(tmp_path, [*["1,5", "2,25", "7,0", "clotted"] * 9, *limits])
    assert "begin with < or >: a text" in found
    assert "some are words" in found


def test_words_of_one_row_or_of_names_are_not_shown(tmp_path):
    found = of_texts(tmp_path, [*["1", "2", "3"] * 40, "Anna"])
    assert "Anna" not in found
    found = of_texts(tmp_path, ["Anna", "Bert", "Cem", "12", "14"] * 4)
    assert "type: text" in found
    assert "Anna" not in found


def test_points_beside_decimal_commas_part_thousands_most_likely(tmp_path):
    rows = "".join(f"{n};{n % 9},5;{n % 9 + 1}.{n + 100}\n" for n in range(40))
    (tmp_path / "t.csv").write_text(f"pid;krea;leu\n{rows}", encoding="utf-8")
    found = drafted(tmp_path / "t.csv", "leu")
    assert 'integer, thousands: "TODO .", domain: {min: 0, max: 10000}' in found
    assert "so points between thousands" in found


def test_codes_of_wards_are_no_diagnoses(tmp_path):
    values = ["A15", "B03", "C01", "D22"] * 9
    assert "hierarchy: icd10" in of_texts(tmp_path, values, "dx")
    for name in ("ward_cd", "oddzial", "zimmer"):
        assert "type: text}" in of_texts(tmp_path, values, name)


def test_a_column_of_one_word_and_nothing_is_not_constant(tmp_path):
    rows = "".join(f"{n // 2},{'red' if n % 2 else ''}\n" for n in range(40))
    (tmp_path / "t.csv").write_text(f"pid,v\n{rows}", encoding="utf-8")
    assert "constant_in_unit" not in draft_manifest([tmp_path / "t.csv"], ["pid"])


def test_words_of_one_unit_alone_are_not_shown(tmp_path):
    rows = "".join(f"{n};{n / 4}\n" for n in range(1, 40))
    (tmp_path / "t.csv").write_text(f"pid;v\n{rows}1;siehe Meyer\n1;siehe Meyer\n")
    assert "Meyer" not in draft_manifest([tmp_path / "t.csv"], ["pid"])
    (tmp_path / "t.csv").write_text(f"pid;v\n{rows}1;fehlt heute\n2;fehlt heute\n")
    assert "fehlt heute" in draft_manifest([tmp_path / "t.csv"], ["pid"])


def test_marks_are_looked_at_file_by_file(tmp_path):
    first = "".join(f"{n};1.{n:03},50\n" for n in range(100, 140))
    other = "".join(f"{n};{n}.{n}\n" for n in range(100, 140))
    (tmp_path / "dose_1.csv").write_text("pid;dose\n" + first)
    (tmp_path / "dose_2.csv").write_text("pid;dose\n" + other)
    (tmp_path / "dose_3.csv").write_text("pid;x\n1;2\n")
    text = draft_manifest(sorted(tmp_path.iterdir()), ["pid"])
    assert 'decimal: ",", thousands: "TODO ."' in text
    assert 'in "dose_2.csv" each may be a decimal mark' in text
    (tmp_path / "dose_2.csv").write_text("pid;dose\n" + first)
    text = draft_manifest(sorted(tmp_path.iterdir()), ["pid"])
    assert "TODO ." not in text


def column_of(tmp_path, values):
    """Return the line of a column ``v`` with these values, of five units."""
    rows = "".join(f"{n % 5},{value}\n" for n, value in enumerate(values))
    (tmp_path / "t.csv").write_text("pid,v\n" + rows)
    text = draft_manifest([tmp_path / "t.csv"], ["pid"])
    return next(line for line in text.splitlines() if "name: v" in line)


@pytest.mark.parametrize(
    ("values", "asked", "domain"),
    [
        ([*range(60, 99), 9999, 9999], '"TODO 9999"', "max: 100}"),
        ([*range(60, 99), 999, 999, 9999, 9999], '"TODO 999", "TODO 9999"', "max: 100"),
        ([*range(60, 99), -1, -1], '"TODO -1"', "min: 0,"),
        (["1.5", "2.5", "-9.0", "-9.0"], '"TODO -9.0"', "{min: 0, max: 5}"),
        (["20240105", "99991231", "0"], '"TODO 0", "TODO 99991231"', "max: 2029-12-31"),
    ],
)
def test_an_end_value_that_stands_for_nothing_widens_no_domain(
    tmp_path, values, asked, domain
):
    line = column_of(tmp_path, values)
    assert f'null_values: ["", {asked}]' in line
    assert domain in line


@pytest.mark.parametrize(
    "values",
    [
        [*range(60, 99), 99, 99],  # near the others
        [*range(60, 99), 9999],  # of one unit
        [*range(60, 99), 5000, 5000],  # no mark
        [-3, -2, -1, -1, 4],
    ],
)
def test_an_end_value_that_may_be_one_is_not_asked_about(tmp_path, values):
    assert "null_values" not in column_of(tmp_path, values)


def test_numbers_of_a_sex_are_asked_about_as_a_public_list(tmp_path):
    rows = "".join(f"{n},{[1, 2, 9][n % 3]},{[1, 2, 4][n % 3]}\n" for n in range(30))
    (tmp_path / "t.csv").write_text("pid,gender,sex_index\n" + rows)
    text = draft_manifest([tmp_path / "t.csv"], ["pid"])
    assert 'values: [0, 1, 2, 9]}, source: "TODO proposed: ISO/IEC 5218, if 1' in text
    assert "name: sex_index, type: integer, domain: {min: 0, max: 5}" in text
    (tmp_path / "t.csv").write_text("pid,Køn\n1,K\n2,M\n3,?\n")
    text = draft_manifest([tmp_path / "t.csv"], ["pid"])
    assert 'values: ["K", "M"], other: true}' in text


def test_many_decimals_are_said_to_be_rounded(tmp_path):
    line = of_texts(tmp_path, ["0,1234567", "0,7654321"])
    assert "a load rounds them to 6, unless you declare a greater scale" in line


@pytest.mark.parametrize(
    ("values", "said", "kind"),
    [
        (["1,5", "2,5", "145,05-"], "some with a minus behind them", "text"),
        (["1,5", "2,5", "5,2*"], "some with a mark of a result behind them", "text"),
        (["0.4", "0.42", "41,5 %"], "some with a unit behind them (41.5 %)", "text"),
        (["1,5"] * 99 + ["145,05-"], "a minus behind them", "decimal"),
        (["1", "2"] * 50 + ["3-"], "or they become NULL", "integer"),
        (["10.50", "20.25", "(45.00)"], "some with brackets around them", "text"),
        (["$1,234.50", "$2.10", "($45.00)"], "with a minus in front of", "text"),
        (["12.5%", "13.5%"], "export the numbers alone", "text"),
        (["12345678.0", "12345679.0", ""], "export them without, and write", "decimal"),
    ],
)
def test_what_stands_behind_some_numbers_is_told(tmp_path, values, said, kind):
    found = of_texts(tmp_path, values * 3)
    assert said in found
    assert f"type: {kind}" in found


def test_codes_of_digits_and_a_letter_are_no_numbers_with_marks(tmp_path):
    assert "behind" not in of_texts(tmp_path, ["12H", "13H", "14L", "7"])


def test_numbers_and_limits_in_several_ways_stay_a_text(tmp_path):
    values = [f"<{n}" for n in range(30)] + [f"{n},5" for n in range(60)]
    found = of_texts(tmp_path, [*values, *(f"{n}.5" for n in range(60))] * 2)
    assert "type: text" in found
    assert "None" not in found


@pytest.mark.parametrize(
    ("name", "values", "domain"),
    [
        ("rec_age_days", [42, 365, 4380], "max: 5000}"),
        ("age_months", [1, 15, 60], "max: 100}"),
        ("alter_wochen", [1, 15, 60], "max: 100}"),
        ("gestational_age", [28, 40, 41], "max: 50}"),
        ("age", [150, 365, 4380], "max: 5000}"),
        ("age", [*range(40), 999], "max: 120}"),
        ("age_at_visit", [0, 17, 90], "max: 120}"),
        ("dose_no", [1, 2, 3, 1, 2, 1], "max: 5}"),
        ("visit_no", [0, 1, 0, 1, 2, 0], "max: 5}"),
        ("parity", [0, 1, 0, 2], "max: 5}"),
        ("dose_no", [1, 2, 3], None),  # each row has its own
        ("ward_no", [100, 101] * 3, None),
        ("case_no", [70001, 70002] * 3, None),
        ("case_id", [1, 2] * 3, None),
    ],
)
def test_ages_in_years_and_counts_within_a_person_have_domains(
    tmp_path, name, values, domain
):
    """Ages in days had 0 to 120, and numbers of doses, taken for ids, none."""
    line = of_texts(tmp_path, values, name)
    assert ("domain" in line) is (domain is not None)
    assert (domain or name) in line


def test_numbers_of_patients_count_nothing(tmp_path):
    text = "pid;patient_no\n" + "1;1\n1;2\n" * 3
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    assert "domain" not in drafted(tmp_path / "t.csv", "patient_no")
