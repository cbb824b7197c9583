"""OpenDP's polars interface, by patient, eight rows of each, on Parquet files."""

import sys
from pathlib import Path

import opendp.prelude as dp
import polars as pl
from facts import CODES, SEXES, YEARS
from timing import arguments, measure

dp.enable_features("contrib")
folder, code, kept = Path(arguments()[0]), arguments()[1], int(arguments()[2])
people = pl.scan_parquet(folder / "patients.parquet")
rows = pl.scan_parquet(folder / "diagnoses.parquet")
beside = folder / "joined.parquet"  # its plans take no join of two private frames
if not beside.exists():
    rows.join(
        people.select("patient_id", "sex"), on="patient_id"
    ).collect().write_parquet(beside)
joined = pl.scan_parquet(beside)
years = pl.LazyFrame({"year": list(YEARS)}, schema={"year": pl.Int64})
cells = pl.LazyFrame(
    {
        "icd": [code for code in CODES for _ in SEXES],
        "sex": list(SEXES) * len(CODES),
    }
)


def asked(frame):
    """Return a query that may spend epsilon 1."""
    return dp.Context.compositor(
        data=frame,
        privacy_unit=dp.unit_of(contributions=1, identifier="patient_id"),
        privacy_loss=dp.loss_of(epsilon=1.0),
        split_evenly_over=1,
    ).query()


def count():
    """Return a noisy row count."""
    return dp.len(signed=True)


QUESTIONS = {
    "Q1": lambda: asked(rows).truncate_per_group(kept).select(count()),
    "Q2": lambda: (
        asked(people)
        .filter((pl.col("age") >= 50) & (pl.col("sex") == "F"))
        .truncate_per_group(1)
        .select(count())
    ),
    "Q3": lambda: (
        asked(rows).filter(pl.col("icd") == code).truncate_per_group(1).select(count())
    ),
    "Q4": lambda: (
        asked(rows)
        .truncate_per_group(kept)
        .group_by("year")
        .agg(count())
        .with_keys(years)
    ),
    "Q5": lambda: (
        asked(joined)
        .truncate_per_group(kept)
        .group_by("icd", "sex")
        .agg(count())
        .with_keys(cells)
    ),
}
for question, made in QUESTIONS.items():
    measure(question, lambda made=made: made().release().collect())
sys.exit(0)
