"""The ledger's tables. Rows of all but ``chain`` are derived from the chain.

No ON DELETE action anywhere: nothing here is ever deleted.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    text,
)

metadata = MetaData()
MAX_NANO = 2**62 - 1


def _amount(name: str) -> CheckConstraint:
    return CheckConstraint(f"{name} >= 0 AND {name} <= {MAX_NANO}")


chain = Table(
    "chain",
    metadata,
    Column("seq", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("kind", Text, nullable=False),
    Column("time", Text, nullable=False),  # UTC, ISO 8601; order is by seq alone
    Column("body", Text, nullable=False),  # canonical JSON
    Column("hash", Text, nullable=False),  # over the previous hash and this entry
    Index("chain_kind", "kind", "seq"),  # finds the last change of the catalogue
)

limit = Table(
    "budget_limit",
    metadata,
    Column("scope", Text, primary_key=True),
    Column("nano_epsilon", BigInteger, _amount("nano_epsilon"), nullable=False),
)

counter = Table(
    "budget_counter",
    metadata,
    Column("scope", Text, primary_key=True),
    Column("nano_epsilon", BigInteger, _amount("nano_epsilon"), nullable=False),
)

charge = Table(
    "charge",
    metadata,
    Column("query_id", Text, primary_key=True),
    Column("seq", BigInteger, nullable=False, unique=True),
    Column("time", Text, nullable=False),
    Column("principal", Text, nullable=False),
    Column("project", Text, nullable=False),
    Column("population", Text, nullable=False),
    Column("dataset", Text, nullable=False),
    Column("snapshot", Text, nullable=False),
    Column("nano_epsilon", BigInteger, _amount("nano_epsilon"), nullable=False),
    Column("question", Text, nullable=False),
    Column("private_history", Boolean, nullable=False),
    Column("idempotency_key", Text),
    Column("fingerprint", Text),
    Column("request", Text, nullable=False),
    Column("source_query_id", Text),  # of a free answer: whose noise it shows
    Column("refines", Text),  # the charge whose noise it draws on
    # What its numbers cost with those that it refines; NULL: its own loss.
    Column("total_nano", BigInteger),
    Column(
        "state",
        Text,
        CheckConstraint("state IN ('running', 'answered', 'failed')"),
        nullable=False,
    ),
    Column("lease_boot", Text),  # leases come and go; they are in no entry
    Column("held_boot", Text),  # whose reply has not left yet; in no entry either
    Column("attempts", Integer, nullable=False),
    UniqueConstraint("principal", "idempotency_key"),
    Index("charge_question", "question"),
    Index("charge_state", "state"),
    Index("charge_refines", "refines", unique=True),  # each is refined once
    Index(
        "charge_held",
        "held_boot",
        sqlite_where=text("held_boot IS NOT NULL"),
        postgresql_where=text("held_boot IS NOT NULL"),
    ),
)

LEASE_COLUMNS = frozenset({"lease_boot", "held_boot", "attempts"})

answer = Table(
    "answer",
    metadata,
    Column("query_id", Text, ForeignKey("charge.query_id"), primary_key=True),
    Column("body", LargeBinary, nullable=False),
    # The answer of which the body, a ``budget.charging.splices.Splice``, has ranges;
    # NULL: the body is whole.
    Column("spliced_from", Text),
)

server_process = Table(
    "boot",
    metadata,
    Column("id", Text, primary_key=True),  # one process, random
    Column("renewed_ms", BigInteger, nullable=False),  # by the database's clock
    Column("since_ms", BigInteger),  # by the same
    Column("host", Text),  # its name, for people
    Column("place", Text),  # which machine and which anchor, hashed
)

trial = Table(
    "trial",  # what is written to see whether there is room; in no entry
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("body", LargeBinary, nullable=False),
)
