"""Ledger tables.

Revision: 0001, after None.
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go forward."""
    op.create_table(
        "budget_counter",
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("nano_epsilon", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("nano_epsilon >= 0 AND nano_epsilon <= 4611686018427387903"),
        sa.PrimaryKeyConstraint("scope"),
    )
    op.create_table(
        "budget_limit",
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("nano_epsilon", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("nano_epsilon >= 0 AND nano_epsilon <= 4611686018427387903"),
        sa.PrimaryKeyConstraint("scope"),
    )
    op.create_table(
        "chain",
        sa.Column(
            "seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("time", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("seq"),
    )
    op.create_table(
        "charge",
        sa.Column("query_id", sa.Text(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("time", sa.Text(), nullable=False),
        sa.Column("principal", sa.Text(), nullable=False),
        sa.Column("project", sa.Text(), nullable=False),
        sa.Column("population", sa.Text(), nullable=False),
        sa.Column("dataset", sa.Text(), nullable=False),
        sa.Column("snapshot", sa.Text(), nullable=False),
        sa.Column("nano_epsilon", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("nano_epsilon >= 0 AND nano_epsilon <= 4611686018427387903"),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("private_history", sa.Boolean(), nullable=False),
        sa.Column("idempotency_key", sa.Text(), nullable=True),
        sa.Column("fingerprint", sa.Text(), nullable=True),
        sa.Column("request", sa.Text(), nullable=False),
        sa.Column("source_query_id", sa.Text(), nullable=True),
        sa.Column("state", sa.Text(), nullable=False),
        sa.CheckConstraint("state IN ('running', 'answered', 'failed')"),
        sa.Column("lease_boot", sa.Text(), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("query_id"),
        sa.UniqueConstraint("principal", "idempotency_key"),
        sa.UniqueConstraint("seq"),
    )
    op.create_index("charge_question", "charge", ["question"], unique=False)
    op.create_index("charge_state", "charge", ["state"], unique=False)
    op.create_table(
        "answer",
        sa.Column("query_id", sa.Text(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["query_id"], ["charge.query_id"]),
        sa.PrimaryKeyConstraint("query_id"),
    )
