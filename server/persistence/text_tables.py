"""Texts, spans and models: raw data of custodians, in no chain entry.

They can be deleted, and nothing of them decides what may be spent (ADR 7). Whatever a
person wrote, and where it stood, is in a ``body`` that may be encrypted; what is in
columns tells no text.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
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
    false,
)

metadata = MetaData()

_STATES = "state IN ('unfinished', 'whole')"

text_begun = Table(
    "text_begun",  # jobs whose beginning is in the chain
    metadata,
    Column("job", Text, primary_key=True),
)

text_collection = Table(
    "text_collection",
    metadata,
    Column("id", Text, primary_key=True),
    Column("population", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("source", Text, nullable=False),  # its declaration, JSON
    Column("job", Text, nullable=False, unique=True),  # that reads it
    Column("state", Text, CheckConstraint(_STATES), nullable=False),
    Column("created", Text, nullable=False),
    Column("created_by", Text, nullable=False),
    UniqueConstraint("population", "name"),
)

text_document = Table(
    "text_document",
    metadata,
    Column("collection", Text, ForeignKey("text_collection.id"), primary_key=True),
    Column("number", BigInteger, primary_key=True, autoincrement=False),  # from 1
    Column("key", Text, nullable=False),  # its id in its source
    Column("characters", BigInteger, nullable=False),
    Column("body", LargeBinary, nullable=False),  # text, place, pieces, fields
    UniqueConstraint("collection", "key"),
)

text_part = Table(
    "text_part",  # of a document's or model's body that is long, but for its first
    metadata,
    Column("owner", Text, primary_key=True),  # a collection's id, or a model's
    Column("number", BigInteger, primary_key=True, autoincrement=False),  # a model's: 0
    Column("part", Integer, primary_key=True, autoincrement=False),  # from 1
    Column("body", LargeBinary, nullable=False),
)

text_quarantined = Table(
    "text_quarantined",
    metadata,
    Column("collection", Text, ForeignKey("text_collection.id"), primary_key=True),
    Column("number", BigInteger, primary_key=True, autoincrement=False),  # from 1
    Column("reason", Text, nullable=False),
    Column("body", LargeBinary, nullable=False),  # key, place, sentence
)

text_finding = Table(
    "text_finding",  # that a finder went over a collection
    metadata,
    Column("collection", Text, ForeignKey("text_collection.id"), primary_key=True),
    Column("finder", Text, primary_key=True),  # gold, rules or a model's id
    Column("job", Text, nullable=False),
    Column("state", Text, CheckConstraint(_STATES), nullable=False),
    Column("created", Text, nullable=False),
    Column("created_by", Text, nullable=False),
)

text_span = Table(
    "text_span",
    metadata,
    Column("collection", Text, primary_key=True),
    Column("finder", Text, primary_key=True),
    Column("document", BigInteger, primary_key=True, autoincrement=False),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("start", BigInteger, nullable=False),  # in code points
    Column("end", BigInteger, nullable=False),
    Column("label", Text, nullable=False),
    Column("score", Float, nullable=False),
    Column("source", Text, nullable=False),
    Column("denied", Boolean, nullable=False, server_default=false()),
)

text_origin = Table(
    "text_origin",  # what each row of a pipeline's table was made of
    metadata,
    Column("job", Text, primary_key=True),
    Column("row", BigInteger, primary_key=True, autoincrement=False),  # from 1
    Column("column", Text, primary_key=True),  # of the table; the unit's: no span
    Column("collection", Text, nullable=False),
    Column("document", BigInteger, nullable=False),  # its number
    Column("finder", Text, nullable=False),  # several: joined by +; of a field empty
    Column("start", BigInteger),  # in code points; NULL of a field
    Column("end", BigInteger),
)

text_model = Table(
    "text_model",
    metadata,
    Column("id", Text, primary_key=True),
    Column("population", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("spec", Text, nullable=False),  # JSON
    Column("card", Text, nullable=False),  # what it learned from, JSON without texts
    Column("job", Text, nullable=False, unique=True),  # that trained it
    Column("created", Text, nullable=False),
    Column("created_by", Text, nullable=False),
    Column("body", LargeBinary, nullable=False),  # the model's file
    UniqueConstraint("population", "name"),
    Index("text_model_created", "created"),
)
