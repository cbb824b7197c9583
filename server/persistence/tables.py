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
    Index,
    Integer,
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
    Column("removed", Text),  # when its file was erased; NULL while it is there
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
    Column("purpose", Text),
    Column("protocol", Text),  # of the ethics board, or whoever approved it
    Column("confirm_above", Text),  # a share of its allotment, "2%"; NULL never
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

custodian = Table(
    "custodian",
    metadata,
    Column("population", Text, ForeignKey("population.name"), primary_key=True),
    Column("principal", Text, ForeignKey("principal.name"), primary_key=True),
)

proposal = Table(
    "proposal",  # a change that needs a second person
    metadata,
    Column("id", Text, primary_key=True),
    Column("action", Text, nullable=False),
    Column("population", Text),  # NULL where it is about to be created
    Column("change", Text, nullable=False),  # canonical JSON, whole
    Column("digest", Text, nullable=False),  # sha256 of ``change``
    Column("proposed_by", Text, nullable=False),
    Column("created", Text, nullable=False),
    Column("lapses", Text, nullable=False),  # UTC, ISO 8601
    Column(
        "state",
        Text,
        CheckConstraint("state IN ('open', 'approved', 'rejected', 'used')"),
        nullable=False,
    ),
    Column("decided_by", Text),
    Column("decided", Text),
)

publication = Table(
    "publication",  # a release, from its charge on
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("population", Text, ForeignKey("population.name"), nullable=False),
    Column("dataset", Text, ForeignKey("dataset.name"), nullable=False),
    Column("snapshot", Text, ForeignKey("snapshot.id"), nullable=False),
    Column("job", Text, nullable=False, unique=True),  # the charge has its id
    Column("spec", Text, nullable=False),  # canonical JSON
    Column("public", Boolean, nullable=False),
    Column("readers", Text, nullable=False),  # JSON list of {project | principal}
    Column(
        "state",
        Text,
        CheckConstraint("state IN ('begun', 'published', 'withdrawn', 'failed')"),
        nullable=False,
    ),
    Column("created", Text, nullable=False),
    Column("created_by", Text, nullable=False),
    Column("manifest_sha256", Text),  # names the folder, once it is published
    Column("visible", Text),  # from when on readers see it, once it is published
    Index("publication_created", "created"),
)

announcement = Table(
    "announcement",  # of a release that is planned
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),  # the release's
    Column("population", Text, ForeignKey("population.name"), nullable=False),
    Column("dataset", Text, ForeignKey("dataset.name"), nullable=False),
    Column("spec", Text, nullable=False),  # canonical JSON
    Column("public", Boolean, nullable=False),
    Column("readers", Text, nullable=False),  # JSON list of {project | principal}
    Column("due", Text, nullable=False),  # ISO date, by which it is to be published
    Column("withdrawn", Boolean, nullable=False),
    Column("created", Text, nullable=False),
    Column("created_by", Text, nullable=False),
    Index("announcement_dataset", "dataset"),
)

work_metadata = MetaData()
"""Tables of work in progress: they come and go, and are in no chain entry."""

job = Table(
    "job",
    work_metadata,
    Column("id", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("parameters", Text, nullable=False),  # canonical JSON
    Column("population", Text),  # whose custodians may see it
    Column("actor", Text, nullable=False),
    Column("created", Text, nullable=False),
    Column(
        "state",
        Text,
        CheckConstraint(
            "state IN ('queued', 'running', 'done', 'failed', 'cancelled')"
        ),
        nullable=False,
    ),
    Column("attempts", Integer, nullable=False),
    Column("lease_boot", Text),  # of one claim, random; earlier versions: of a process
    Column("lease_until_ms", BigInteger),  # by the database's clock
    Column("cancel_requested", Boolean, nullable=False),
    Column("stage", Text),
    Column("done", BigInteger, nullable=False),
    Column("total", BigInteger),
    Column("position", Text),  # where a resumed attempt goes on, JSON
    Column("started", Text),
    Column("ended", Text),
    Column("result", Text),  # JSON
    Column("error", Text),
    Column("lineage", Text, nullable=False),  # inputs, code version, outputs; JSON
    Column("worked_ms", BigInteger, nullable=False, server_default="0"),  # all attempts
    Index("job_state", "state", "created"),
)

rate = Table(
    "rate",
    work_metadata,
    Column("principal", Text, primary_key=True),
    Column("full_at_us", BigInteger, nullable=False),  # by the database's clock
)

in_flight = Table(
    "in_flight",
    work_metadata,
    Column("boot", Text, primary_key=True),
    Column("principal", Text, primary_key=True),
    Column("requests", Integer, nullable=False),
)
