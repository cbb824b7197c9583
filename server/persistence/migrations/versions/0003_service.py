"""What a service needs: several processes, second persons, jobs, limits.

Revision: 0003, after 0002.
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go forward."""
    _several_processes()
    _second_persons()
    _jobs()


def _several_processes() -> None:
    op.add_column("charge", sa.Column("held_boot", sa.Text()))
    op.create_index(
        "charge_held",
        "charge",
        ["held_boot"],
        sqlite_where=sa.text("held_boot IS NOT NULL"),
        postgresql_where=sa.text("held_boot IS NOT NULL"),
    )
    op.create_table(
        "boot",
        sa.Column("id", sa.Text(), primary_key=True),
        sa.Column("renewed_ms", sa.BigInteger(), nullable=False),
    )
    op.create_table(
        "rate",
        sa.Column("principal", sa.Text(), primary_key=True),
        sa.Column("theoretical_arrival_ms", sa.BigInteger(), nullable=False),
    )
    op.create_table(
        "in_flight",
        sa.Column("boot", sa.Text(), primary_key=True),
        sa.Column("principal", sa.Text(), primary_key=True),
        sa.Column("requests", sa.Integer(), nullable=False),
    )


def _second_persons() -> None:
    op.add_column("project", sa.Column("purpose", sa.Text()))
    op.add_column("project", sa.Column("protocol", sa.Text()))
    op.create_table(
        "custodian",
        sa.Column(
            "population", sa.Text(), sa.ForeignKey("population.name"), primary_key=True
        ),
        sa.Column(
            "principal", sa.Text(), sa.ForeignKey("principal.name"), primary_key=True
        ),
    )
    op.create_table(
        "proposal",
        sa.Column("id", sa.Text(), primary_key=True),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("population", sa.Text()),
        sa.Column("change", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("proposed_by", sa.Text(), nullable=False),
        sa.Column("created", sa.Text(), nullable=False),
        sa.Column("lapses", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("decided_by", sa.Text()),
        sa.Column("decided", sa.Text()),
        sa.CheckConstraint("state IN ('open', 'approved', 'rejected', 'used')"),
    )


def _jobs() -> None:
    op.create_table(
        "job",
        sa.Column("id", sa.Text(), primary_key=True),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("parameters", sa.Text(), nullable=False),
        sa.Column("population", sa.Text()),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("created", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("lease_boot", sa.Text()),
        sa.Column("lease_until_ms", sa.BigInteger()),
        sa.Column("cancel_requested", sa.Boolean(), nullable=False),
        sa.Column("stage", sa.Text()),
        sa.Column("done", sa.BigInteger(), nullable=False),
        sa.Column("total", sa.BigInteger()),
        sa.Column("position", sa.Text()),
        sa.Column("started", sa.Text()),
        sa.Column("ended", sa.Text()),
        sa.Column("result", sa.Text()),
        sa.Column("error", sa.Text()),
        sa.Column("lineage", sa.Text(), nullable=False),
        sa.CheckConstraint(
            "state IN ('queued', 'running', 'done', 'failed', 'cancelled')"
        ),
    )
    op.create_index("job_state", "job", ["state", "created"])
