"""Exports of a made-up hospital, as four systems write them: a custodian's Monday."""

import csv
import gzip
import io
import random
import sqlite3
from datetime import date, timedelta
from pathlib import Path

from tests.support.workbooks import write_workbook

PATIENTS = 120


def write_exports(folder: Path):
    """Write two years of stays, laboratory values, a workbook and a database."""
    made = random.Random(7)
    people = [
        (n, made.choice("mw"), date(1930, 1, 1) + timedelta(made.randrange(25_000)))
        for n in range(1, PATIENTS + 1)
    ]
    for year in (2022, 2023):
        (folder / f"aufenthalte_{year}.csv").write_bytes(_german(made, people, year))
    (folder / "labs.csv.gz").write_bytes(gzip.compress(_american(made, people)))
    _workbook(made, people, folder / "pflege.xlsx")
    _database(made, people, folder / "his.db")


def _lines(rows, **how):
    text = io.StringIO()
    csv.writer(text, **how).writerows(rows)
    return text.getvalue()


def _german(made, people, year):
    """Return semicolons, Windows-1252, decimal commas, two formats of dates."""
    header = ["PatNr", "Geschlecht", "Aufnahme", "Entlassung", "Größe", "Erlös", "Akut"]
    if year > 2022:
        header.append("Station")
    rows = [header]
    for number, sex, _ in people:
        came = date(year, 1, 1) + timedelta(made.randrange(360))
        left = came + timedelta(made.randrange(1, 30))
        rows.append(
            [
                number,
                sex,
                came.strftime("%d.%m.%Y") if made.random() < 0.8 else came.isoformat(),
                "31.12.9999" if made.random() < 0.05 else left.strftime("%d.%m.%Y"),
                str(made.randrange(1500, 1950) / 10).replace(".", ","),
                f"{made.randrange(1, 9)}.{made.randrange(100, 999)},50",
                made.choice(["ja", "nein"]),
                *(["-" if made.random() < 0.1 else "Süd"] if year > 2022 else []),
            ]
        )
    rows.append(["Summe", *[""] * (len(header) - 1)])
    title = f"Controlling; Stand {year}\r\n\r\n"
    text = title + _lines(rows, delimiter=";", lineterminator="\r\n")
    return text.encode("cp1252")


def _american(made, people):
    """Return mm/dd/yyyy, everything in quotes, and a line of totals."""
    rows = [["Patient ID", "Drawn", "Potassium", "Comment"]]
    for number, _, _ in people:
        drawn = date(2023, 1, 1) + timedelta(made.randrange(360))
        value = f"{made.randrange(25, 60) / 10}"
        rows.append([number, drawn.strftime("%m/%d/%Y"), value, 'said "fine", left'])
    rows.append(["Total records", str(len(people)), "", ""])
    return _lines(rows, quoting=csv.QUOTE_ALL).encode()


def _workbook(made, people, path):
    """Write a title row and two sheets."""
    care = [["Pflege"], [], ["PatNr", "Geboren", "Stufe"]]
    care += [[number, born, made.randrange(1, 5)] for number, _, born in people]
    wards = [["Station", "Betten"], ["Süd", 20], ["Nord", 12]]
    write_workbook(path, {"Patienten": care, "Stationen": wards})


def _database(made, people, path):
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE dx (pid INTEGER, seen TEXT, icd TEXT)")
        connection.executemany(
            "INSERT INTO dx VALUES (?, ?, ?)",
            [(n, "2023-05-06", made.choice(["E11.9", "I10"])) for n, _, _ in people],
        )
    connection.close()
