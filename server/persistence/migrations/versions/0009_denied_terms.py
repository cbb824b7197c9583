"""Spans say whether a text denies them.

Revision: 0009, after 0008.
"""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go forward."""
    op.add_column(
        "text_span",
        sa.Column("denied", sa.Boolean(), nullable=False, server_default=sa.false()),
    )
