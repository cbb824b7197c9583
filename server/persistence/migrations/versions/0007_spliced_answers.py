"""Free answers are stored as what differs from the answers that they show.

Those that are there stay whole.

Revision: 0007, after 0006.
"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go forward."""
    op.add_column("answer", sa.Column("spliced_from", sa.Text()))
