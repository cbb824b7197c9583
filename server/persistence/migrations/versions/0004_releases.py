"""What releases need: the table of what was published.

Revision: 0004, after 0003.
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go forward."""
    op.create_table(
        "publication",
        sa.Column("id", sa.Text(), primary_key=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column(
            "population", sa.Text(), sa.ForeignKey("population.name"), nullable=False
        ),
        sa.Column("dataset", sa.Text(), sa.ForeignKey("dataset.name"), nullable=False),
        sa.Column("snapshot", sa.Text(), sa.ForeignKey("snapshot.id"), nullable=False),
        sa.Column("job", sa.Text(), nullable=False, unique=True),
        sa.Column("spec", sa.Text(), nullable=False),
        sa.Column("public", sa.Boolean(), nullable=False),
        sa.Column("readers", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("created", sa.Text(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("manifest_sha256", sa.Text()),
        sa.Column("visible", sa.Text()),
        sa.CheckConstraint("state IN ('begun', 'published', 'withdrawn', 'failed')"),
    )
    op.create_index("publication_created", "publication", ["created"])
