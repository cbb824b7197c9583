"""Tumult Analytics on Spark in local mode, by patient, eight rows of each."""

import logging
import os
import sys
import tempfile
import warnings
from pathlib import Path

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)
from facts import CODES, SEXES, YEARS  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402 - after the settings above
from timing import arguments, measure  # noqa: E402
from tmlt.analytics import (  # noqa: E402
    AddRowsWithID,
    KeySet,
    MaxRowsPerID,
    PureDPBudget,
    QueryBuilder,
    Session,
)

folder, code, kept = Path(arguments()[0]), arguments()[1], int(arguments()[2])
cores, scratch = os.cpu_count(), tempfile.mkdtemp()
spark = (
    SparkSession.builder.master(f"local[{cores}]")
    .config("spark.driver.memory", "6g")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", str(cores))
    .config("spark.sql.warehouse.dir", scratch)
    .config("spark.driver.host", "127.0.0.1")
    .config("spark.driver.bindAddress", "127.0.0.1")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("OFF")
session = Session.Builder().with_id_space("patients")
for table in ("patients", "diagnoses"):
    frame = spark.read.parquet(str(folder / f"{table}.parquet")).cache()
    frame.count()
    session = session.with_private_dataframe(
        table,
        frame,
        protected_change=AddRowsWithID("patient_id", id_space="patients"),
    )
session = session.with_privacy_budget(PureDPBudget(float("inf"))).build()
bounded = MaxRowsPerID(kept)
years = KeySet.from_dict({"year": list(YEARS)})
cells = KeySet.from_dict({"icd": list(CODES), "sex": list(SEXES)})
for question, built in {
    "Q1": QueryBuilder("diagnoses").enforce(bounded).count(),
    "Q2": QueryBuilder("patients")
    .filter("age >= 50 AND sex = 'F'")
    .enforce(MaxRowsPerID(1))
    .count(),
    "Q3": QueryBuilder("diagnoses")
    .filter(f"icd = '{code}'")
    .enforce(MaxRowsPerID(1))
    .count(),
    "Q4": QueryBuilder("diagnoses").enforce(bounded).groupby(years).count(),
    "Q5": QueryBuilder("diagnoses")
    .join_private("patients")
    .enforce(bounded)
    .groupby(cells)
    .count(),
}.items():
    measure(
        question,
        lambda built=built: session.evaluate(built, PureDPBudget(1.0)).collect(),
    )
