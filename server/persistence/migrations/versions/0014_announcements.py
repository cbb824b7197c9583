"""Releases that are planned may be announced.

Revision: 0014, after 0013.
"""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go forward."""
    op.create_table(
        "announcement",
        sa.Column("id", sa.Text(), primary_key=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column(
            "population", sa.Text(), sa.ForeignKey("population.name"), nullable=False
        ),
        sa.Column("dataset", sa.Text(), sa.ForeignKey("dataset.name"), nullable=False),
        sa.Column("spec", sa.Text(), nullable=False),
        sa.Column("public", sa.Boolean(), nullable=False),
        sa.Column("readers", sa.Text(), nullable=False),
        sa.Column("due", sa.Text(), nullable=False),
        sa.Column("withdrawn", sa.Boolean(), nullable=False),
        sa.Column("created", sa.Text(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
    )
    op.create_index("announcement_dataset", "announcement", ["dataset"])
