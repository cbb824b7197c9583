"""Charges say which other one they refine, and what their numbers cost in all.

Revision: 0013, after 0012.
"""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go forward."""
    op.add_column("charge", sa.Column("refines", sa.Text()))
    op.add_column("charge", sa.Column("total_nano", sa.BigInteger()))
    op.create_index("charge_refines", "charge", ["refines"], unique=True)
