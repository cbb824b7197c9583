"""Texts, spans and models, and which jobs about them have begun.

Revision: 0008, after 0007.
"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_STATES = "state IN ('unfinished', 'whole')"


def upgrade() -> None:
    """Go forward."""
    op.create_table("text_begun", sa.Column("job", sa.Text(), primary_key=True))
    _collections()
    _findings()
    _origins()
    op.create_table(
        "text_model",
        sa.Column("id", sa.Text(), primary_key=True),
        sa.Column("population", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("spec", sa.Text(), nullable=False),
        sa.Column("card", sa.Text(), nullable=False),
        sa.Column("job", sa.Text(), nullable=False, unique=True),
        sa.Column("created", sa.Text(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.UniqueConstraint("population", "name"),
    )
    op.create_index("text_model_created", "text_model", ["created"])


def _collections() -> None:
    op.create_table(
        "text_collection",
        sa.Column("id", sa.Text(), primary_key=True),
        sa.Column("population", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("job", sa.Text(), nullable=False, unique=True),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("created", sa.Text(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.UniqueConstraint("population", "name"),
        sa.CheckConstraint(_STATES),
    )
    op.create_table(
        "text_document",
        _of_collection(),
        _number("number"),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("characters", sa.BigInteger(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.UniqueConstraint("collection", "key"),
    )
    op.create_table(
        "text_quarantined",
        _of_collection(),
        _number("number"),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
    )


def _findings() -> None:
    op.create_table(
        "text_finding",
        _of_collection(),
        sa.Column("finder", sa.Text(), primary_key=True),
        sa.Column("job", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("created", sa.Text(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.CheckConstraint(_STATES),
    )
    op.create_table(
        "text_span",
        sa.Column("collection", sa.Text(), primary_key=True),
        sa.Column("finder", sa.Text(), primary_key=True),
        _number("document"),
        sa.Column("number", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("start", sa.BigInteger(), nullable=False),
        sa.Column("end", sa.BigInteger(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("score", sa.Float(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
    )


def _origins() -> None:
    op.create_table(
        "text_origin",
        sa.Column("job", sa.Text(), primary_key=True),
        _number("row"),
        sa.Column("column", sa.Text(), primary_key=True),
        sa.Column("collection", sa.Text(), nullable=False),
        sa.Column("document", sa.BigInteger(), nullable=False),
        sa.Column("finder", sa.Text(), nullable=False),
        sa.Column("start", sa.BigInteger()),
        sa.Column("end", sa.BigInteger()),
    )


def _of_collection() -> sa.Column[str]:
    collection = sa.ForeignKey("text_collection.id")
    return sa.Column("collection", sa.Text(), collection, primary_key=True)


def _number(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), primary_key=True, autoincrement=False)
