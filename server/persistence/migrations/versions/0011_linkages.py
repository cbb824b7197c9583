"""Linkages: runs, doubtful pairs, decisions, and what became of patients.

Revision: 0011, after 0010.
"""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Go forward."""
    _add_linkages()
    _add_doubts()
    _add_decisions()
    op.create_table(
        "linkage_act",
        sa.Column("job", sa.Text(), primary_key=True),
        sa.Column("number", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column(
            "kind",
            sa.Text(),
            sa.CheckConstraint("kind IN ('merge', 'split')"),
            nullable=False,
        ),
        sa.Column("old", sa.BigInteger(), nullable=False),
        sa.Column("new", sa.BigInteger(), nullable=False),
        sa.Column("records", sa.BigInteger(), nullable=False),
    )


def _add_linkages() -> None:
    op.create_table(
        "linkage",
        sa.Column("id", sa.Text(), primary_key=True),
        sa.Column("population", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("file", sa.Text(), nullable=False),
        sa.Column("opinions", sa.Integer(), nullable=False),
        sa.Column("job", sa.Text(), nullable=False),
        sa.Column("created", sa.Text(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.UniqueConstraint("population", "name"),
    )
    op.create_table(
        "linkage_run",
        sa.Column("job", sa.Text(), primary_key=True),
        sa.Column("linkage", sa.Text(), sa.ForeignKey("linkage.id"), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("created", sa.Text(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("file_sha256", sa.Text(), nullable=False),
        sa.Column("decisions", sa.BigInteger(), nullable=False),
        sa.Column("snapshot", sa.Text()),
        sa.Column("report", sa.Text(), nullable=False),
        sa.UniqueConstraint("linkage", "number"),
    )


def _add_doubts() -> None:
    op.create_table(
        "linkage_doubt",
        sa.Column("job", sa.Text(), primary_key=True),
        sa.Column("number", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("left", sa.BigInteger(), nullable=False),
        sa.Column("right", sa.BigInteger(), nullable=False),
        sa.Column("score", sa.Float(), nullable=False),
        sa.Column("weight", sa.Float(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
    )
    op.create_index("linkage_doubt_pair", "linkage_doubt", ["job", "left", "right"])


def _add_decisions() -> None:
    verdicts = "verdict IN ('match', 'no_match', 'unsure')"
    op.create_table(
        "linkage_decision",
        sa.Column("number", _NUMBER, primary_key=True),
        sa.Column("id", sa.Text(), nullable=False, unique=True),
        sa.Column("linkage", sa.Text(), sa.ForeignKey("linkage.id"), nullable=False),
        sa.Column("left", sa.BigInteger(), nullable=False),
        sa.Column("right", sa.BigInteger(), nullable=False),
        sa.Column("verdict", sa.Text(), sa.CheckConstraint(verdicts), nullable=False),
        sa.Column("created", sa.Text(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("undone", sa.Text()),
        sa.Column("undone_by", sa.Text()),
    )
    op.create_index(
        "linkage_decision_pair", "linkage_decision", ["linkage", "left", "right"]
    )
