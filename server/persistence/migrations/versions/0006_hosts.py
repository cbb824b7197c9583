"""Which host serves the ledger; and a table to see whether an answer has room.

Revision: 0006, after 0004.
"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go forward."""
    for column in (
        sa.Column("since_ms", sa.BigInteger()),
        sa.Column("host", sa.Text()),
        sa.Column("place", sa.Text()),
    ):
        op.add_column("boot", column)
    op.create_table(
        "trial",
        sa.Column("id", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
    )
