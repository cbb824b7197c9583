"""Projects may have dear questions confirmed.

Revision: 0012, after 0011.
"""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go forward."""
    op.add_column("project", sa.Column("confirm_above", sa.Text()))
