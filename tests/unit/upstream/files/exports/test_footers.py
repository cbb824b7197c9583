"""Lines at a file's end that are left out are told, and warned of if like rows."""

from upstream.drafting.drafting import draft_manifest

HEADER = "PatNr;Größe;Tag;Raucher;Station\n"
ROWS = "".join(f"{n};1{n % 9},5;0{n % 9 + 1}.01.2024;ja;Süd\n" for n in range(1, 31))
COLUMNS = [
    {"name": "pid", "from": "PatNr", "type": "integer"},
    {"name": "ward", "from": "Station", "type": "text"},
]


def warned(hospital, end, footer):
    hospital.csv = HEADER + ROWS + end
    hospital.columns = COLUMNS
    hospital.table = {"csv": {"delimiter": ";", "footer_rows": footer}}
    return [one for one in hospital.load().report.warnings if "footer_rows" in one]


def test_a_load_tells_which_lines_footer_rows_leaves_out(hospital):
    said = warned(hospital, "Summe;;;;\nAnzahl Datensätze: 30;;;;\n", 2)
    (only,) = said
    assert only == (
        "stays.csv: 2 lines at the end left out by footer_rows: 32 ('Summe'), 33 "
        "('Anzahl Datensätze: 30')"
    )


def test_a_row_that_footer_rows_leaves_out_is_warned_of(hospital):
    said = warned(hospital, "31;17,5;03.01.2024;ja;Nord\n", 1)
    assert len(said) == 2
    assert said[1].startswith("stays.csv:32: is left out by footer_rows, and looks ")


def drafted(tmp_path, end):
    (tmp_path / "t.csv").write_text(HEADER + ROWS + end, encoding="utf-8")
    return draft_manifest([tmp_path / "t.csv"], ["PatNr"])


def test_a_draft_tells_the_lines_that_it_takes_for_totals(tmp_path):
    for word in ("Razem", "Total général", "Toplam", "Summe"):
        text = drafted(tmp_path, f"{word};612,5;;;\n")
        assert "footer_rows: 1" in text
        assert f"left out by footer_rows: 32 ('{word}')" in text
    text = drafted(tmp_path, "Quelle: KIS, Stand 1.2.;;;;\n")
    assert "32 ('Quelle: KIS, Stand 1.2.')" in text


def test_a_draft_takes_no_row_for_totals(tmp_path):
    for end in ("31;17,5;03.01.2024;ja\n", "31;;;;\n", "31;Total;;;\n"):
        assert "footer_rows" not in drafted(tmp_path, end)
