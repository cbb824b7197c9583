"""Linkages: runs, doubtful pairs, what clerks decided, and what became of patients.

Whatever a record says of a patient is in a ``body`` that may be encrypted. Records are
named by numbers that mean nothing outside their linkage. None of it is in the chain
(ADR 40).
"""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)

metadata = MetaData()

linkage = Table(
    "linkage",
    metadata,
    Column("id", Text, primary_key=True),
    Column("population", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("file", Text, nullable=False),  # that declares it, under CURATOR_IMPORT
    Column("opinions", Integer, nullable=False),  # that decide a pair
    Column("job", Text, nullable=False),  # whose run counts
    Column("created", Text, nullable=False),
    Column("created_by", Text, nullable=False),
    UniqueConstraint("population", "name"),
)

linkage_run = Table(
    "linkage_run",
    metadata,
    Column("job", Text, primary_key=True),
    Column("linkage", Text, ForeignKey("linkage.id"), nullable=False),
    Column("number", Integer, nullable=False),  # from 1
    Column("created", Text, nullable=False),
    Column("created_by", Text, nullable=False),
    Column("file_sha256", Text, nullable=False),  # of the register
    Column("decisions", BigInteger, nullable=False),  # the last that was applied
    Column("snapshot", Text),  # that was loaded with its keys
    Column("report", Text, nullable=False),  # JSON, counts alone
    UniqueConstraint("linkage", "number"),
)

linkage_doubt = Table(
    "linkage_doubt",  # of the run that counts
    metadata,
    Column("job", Text, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),  # from 1
    Column("left", BigInteger, nullable=False),  # record, the smaller number
    Column("right", BigInteger, nullable=False),
    Column("score", Float, nullable=False),
    Column("weight", Float, nullable=False),
    Column("reason", Text, nullable=False),
    Column("body", LargeBinary, nullable=False),  # both records, and the steps
    Index("linkage_doubt_pair", "job", "left", "right"),
)

linkage_decision = Table(
    "linkage_decision",
    metadata,
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("id", Text, nullable=False, unique=True),
    Column("linkage", Text, ForeignKey("linkage.id"), nullable=False),
    Column("left", BigInteger, nullable=False),
    Column("right", BigInteger, nullable=False),
    Column(
        "verdict",
        Text,
        CheckConstraint("verdict IN ('match', 'no_match', 'unsure')"),
        nullable=False,
    ),
    Column("created", Text, nullable=False),
    Column("created_by", Text, nullable=False),
    Column("undone", Text),
    Column("undone_by", Text),
    Index("linkage_decision_pair", "linkage", "left", "right"),
)

linkage_act = Table(
    "linkage_act",  # what a run changed for patients who had a unit key
    metadata,
    Column("job", Text, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),  # from 1
    Column("kind", Text, CheckConstraint("kind IN ('merge', 'split')"), nullable=False),
    Column("old", BigInteger, nullable=False),  # unit keys
    Column("new", BigInteger, nullable=False),
    Column("records", BigInteger, nullable=False),
)
