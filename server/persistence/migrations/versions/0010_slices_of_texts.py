"""Long bodies are kept in parts, and jobs say how long they were worked on.

Revision: 0010, after 0009.
"""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go forward."""
    op.create_table(
        "text_part",
        sa.Column("owner", sa.Text(), primary_key=True),
        sa.Column("number", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("part", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
    )
    op.add_column(
        "job",
        sa.Column("worked_ms", sa.BigInteger(), nullable=False, server_default="0"),
    )
