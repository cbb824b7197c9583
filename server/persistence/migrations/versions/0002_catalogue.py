"""Catalogue tables.

Revision: 0002, after 0001.
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go forward."""
    op.create_table(
        "installation",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "population",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("unit", sa.Text(), nullable=False),
        sa.Column("unit_type", sa.Text(), nullable=False),
        sa.Column("epsilon_min_nano", sa.BigInteger(), nullable=False),
        sa.Column("epsilon_max_nano", sa.BigInteger(), nullable=False),
        sa.Column("declaration", sa.Text(), nullable=False),
        sa.Column("overlap_digest", sa.Text(), nullable=False),
        sa.Column("created", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "principal",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.CheckConstraint("role IN ('analyst', 'custodian', 'auditor', 'admin')"),
        sa.Column("disabled", sa.Boolean(), nullable=False),
        sa.Column("created", sa.Text(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
        sa.UniqueConstraint("id"),
    )
    op.create_table(
        "dataset",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("population", sa.Text(), nullable=False),
        sa.Column("active_snapshot", sa.Text(), nullable=False),
        sa.Column("created", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["population"], ["population.name"]),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "key",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("principal", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("revoked", sa.Boolean(), nullable=False),
        sa.Column("created", sa.Text(), nullable=False),
        sa.Column("issued_by", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["principal"], ["principal.name"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("digest"),
    )
    op.create_table(
        "project",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("population", sa.Text(), nullable=False),
        sa.Column("expires", sa.Text(), nullable=True),
        sa.Column("private_history", sa.Boolean(), nullable=False),
        sa.Column("created", sa.Text(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["population"], ["population.name"]),
        sa.PrimaryKeyConstraint("name"),
        sa.UniqueConstraint("id"),
    )
    op.create_table(
        "project_dataset",
        sa.Column("project", sa.Text(), nullable=False),
        sa.Column("dataset", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["dataset"], ["dataset.name"]),
        sa.ForeignKeyConstraint(["project"], ["project.name"]),
        sa.PrimaryKeyConstraint("project", "dataset"),
    )
    op.create_table(
        "project_principal",
        sa.Column("project", sa.Text(), nullable=False),
        sa.Column("principal", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["principal"], ["principal.name"]),
        sa.ForeignKeyConstraint(["project"], ["project.name"]),
        sa.PrimaryKeyConstraint("project", "principal"),
    )
    op.create_table(
        "snapshot",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("dataset", sa.Text(), nullable=False),
        sa.Column("schema", sa.Text(), nullable=False),
        sa.Column("display", sa.Text(), nullable=False),
        sa.Column("manifest", sa.Text(), nullable=False),
        sa.Column("created", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["dataset"], ["dataset.name"]),
        sa.PrimaryKeyConstraint("id"),
    )
