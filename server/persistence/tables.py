"""The catalogue: people, keys, grants, populations, datasets and their snapshots.

Every row here is written through the ledger's recorded transactions, so that each
change is a chain entry and ``curator ledger verify`` can rebuild and compare it.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    MetaData,
    Table,
    Text,
)

metadata = MetaData()

_ROLES = "role IN ('analyst', 'custodian', 'auditor', 'admin')"

installation = Table(
    "installation",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
)

population = Table(
    "population",
    metadata,
    Column("name", Text, primary_key=True),
    Column("unit", Text, nullable=False),
    Column("unit_type", Text, nullable=False),
    Column("epsilon_min_nano", BigInteger, nullable=False),
    Column("epsilon_max_nano", BigInteger, nullable=False),
    Column("declaration", Text, nullable=False),  # the manifest's words, JSON
    Column("overlap_digest", Text, nullable=False),
    Column("created", Text, nullable=False),
)

dataset = Table(
    "dataset",
    metadata,
    Column("name", Text, primary_key=True),
    Column("population", Text, ForeignKey("population.name"), nullable=False),
    Column("active_snapshot", Text, nullable=False),
    Column("created", Text, nullable=False),
)

snapshot = Table(
    "snapshot",
    metadata,
    Column("id", Text, primary_key=True),
    Column("dataset", Text, ForeignKey("dataset.name"), nullable=False),
    Column("schema", Text, nullable=False),  # public, as privacy.schema_json writes it
    Column("display", Text, nullable=False),  # public display rule, JSON
    Column("manifest", Text, nullable=False),  # the custodian's, canonical JSON
    Column("created", Text, nullable=False),
)

principal = Table(
    "principal",
    metadata,
    Column("name", Text, primary_key=True),
    Column("id", Text, nullable=False, unique=True),
    Column("role", Text, CheckConstraint(_ROLES), nullable=False),
    Column("disabled", Boolean, nullable=False),
    Column("created", Text, nullable=False),
    Column("created_by", Text, nullable=False),
)

key = Table(
    "key",
    metadata,
    Column("id", Text, primary_key=True),
    Column("principal", Text, ForeignKey("principal.name"), nullable=False),
    Column("digest", Text, nullable=False, unique=True),  # sha256 of the token
    Column("revoked", Boolean, nullable=False),
    Column("created", Text, nullable=False),
    Column("issued_by", Text, nullable=False),
)

project = Table(
    "project",
    metadata,
    Column("name", Text, primary_key=True),
    Column("id", Text, nullable=False, unique=True),
    Column("population", Text, ForeignKey("population.name"), nullable=False),
    Column("expires", Text),  # ISO date, first day without access; NULL never
    Column("private_history", Boolean, nullable=False),
    Column("created", Text, nullable=False),
    Column("created_by", Text, nullable=False),
)

project_dataset = Table(
    "project_dataset",
    metadata,
    Column("project", Text, ForeignKey("project.name"), primary_key=True),
    Column("dataset", Text, ForeignKey("dataset.name"), primary_key=True),
)

project_principal = Table(
    "project_principal",
    metadata,
    Column("project", Text, ForeignKey("project.name"), primary_key=True),
    Column("principal", Text, ForeignKey("principal.name"), primary_key=True),
)
