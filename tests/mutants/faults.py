"""Faults that somebody could make, each with the tests that must catch it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    name: str
    what: str
    file: str
    right: str  # stands exactly once in the file
    wrong: str
    tests: tuple[str, ...]


FAULTS = (
    Fault(
        "half_noise",
        "the sampler draws noise of half the scale",
        "mechanisms/samplers.py",
        "return list(_measurement(scale)(saturated))",
        "return list(_measurement(scale / 2)(saturated))",
        ("tests/statistical",),
    ),
    Fault(
        "charge_after_read",
        "data is touched before the charge",
        "server/use_cases/asking.py",
        "        self._services.unreleased.hold(request.query_id)\n",
        "        self._services.unreleased.hold(request.query_id)\n"
        "        self._services.engine.execute(\n"
        "            question.snapshot, question.compiled.rendered\n"
        "        )\n",
        ("tests/integration/test_order.py",),
    ),
    Fault(
        "refused_but_answered",
        "an answer is given although the charge was refused",
        "budget/filter.py",
        "    if any(left is not None and request.loss > left for left in "
        "before.values()):",
        "    if False:",
        ("tests/unit/budget/test_ledger.py",),
    ),
    Fault(
        "no_row_bound",
        "ingestion keeps every row of a patient",
        "upstream/private_tables.py",
        'f"WHERE place <= {table.max_rows_per_unit} ORDER BY unit_key, row_rank"',
        '"ORDER BY unit_key, row_rank"',
        ("tests/unit/upstream", "tests/property"),
    ),
    Fault(
        "sensitivity_off_by_one",
        "COUNT(*) is said to move by one row less",
        "query_lang/sensitivity.py",
        "    k = Fraction(_positive(rows_per_unit))",
        "    k = Fraction(max(1, _positive(rows_per_unit) - 1))",
        ("tests/unit/query_lang", "tests/property/test_queries.py"),
    ),
    Fault(
        "groups_taken_for_one",
        "a patient is said to be in one group whatever the key",
        "query_lang/sensitivity.py",
        "    return [key for key in plan.keys if not key.column.constant_in_unit]",
        "    return []",
        ("tests/unit/query_lang", "tests/property/test_queries.py"),
    ),
    Fault(
        "running_number",
        "the stored unit key is a running number",
        "upstream/ingestion.py",
        "AS SELECT uid, {key} AS unit_key FROM",
        "AS SELECT uid, row_number() OVER (ORDER BY uid) AS unit_key FROM",
        ("tests/unit/upstream", "tests/property"),
    ),
    Fault(
        "cache_across_snapshots",
        "an answer on old data is offered for new data",
        "server/use_cases/questions.py",
        '    parts = {"plan": compiled.canonical, "snapshot": snapshot}',
        '    parts = {"plan": compiled.canonical}',
        ("tests/integration/test_reuse.py",),
    ),
    Fault(
        "anchor_unchecked",
        "writers do not ask whether the ledger contains its anchor",
        "budget/writing.py",
        "        if not is_contained(connection, record.ledger_id, record.head):",
        "        if False:",
        ("tests/unit/budget/test_anchor.py",),
    ),
    Fault(
        "anchor_unwritten",
        "the anchor is never moved",
        "budget/writing.py",
        "            held.write(after)",
        "            pass",
        ("tests/unit/budget/test_anchor.py",),
    ),
    Fault(
        "keys_shared",
        "another principal's idempotency key brings its answer",
        "budget/queries.py",
        "            charge.c.principal == principal, charge.c.idempotency_key == key",
        "            charge.c.idempotency_key == key",
        ("tests/unit/budget/test_ledger.py",),
    ),
    Fault(
        "body_ignored",
        "the same key with another body brings the first answer",
        "budget/queries.py",
        "    if row.fingerprint != fingerprint:",
        "    if False:",
        ("tests/unit/budget/test_ledger.py",),
    ),
    Fault(
        "private_history_offered",
        "a private project's answers are offered to others",
        "budget/queries.py",
        "            charge.c.private_history.is_(False) | "
        "(charge.c.project == project),\n",
        "",
        ("tests/unit/budget/test_ledger.py",),
    ),
    Fault(
        "seen_before_its_slot",
        "a stored answer shows before its reply has left",
        "budget/queries.py",
        '    if row.state == "running" or not is_released(row.query_id):',
        '    if row.state == "running":',
        ("tests/unit/budget/test_ledger.py",),
    ),
    Fault(
        "first_answer_lost",
        "a second executor's fresh noise replaces the first answer",
        "budget/ledger.py",
        "            if stored is not None:\n                return bytes(stored)\n",
        "",
        ("tests/unit/budget/test_ledger.py",),
    ),
    Fault(
        "executed_for_ever",
        "an orphan is executed again without end",
        "budget/leases.py",
        "        .where(_ORPHANED, charge.c.attempts >= MAX_EXECUTIONS)",
        "        .where(_ORPHANED, charge.c.attempts < 0)",
        ("tests/unit/budget/test_ledger.py",),
    ),
    Fault(
        "unanchored_shown",
        "a stored answer shows although its anchor could not be written",
        "budget/writing.py",
        "            self._behind = True\n",
        "",
        ("tests/unit/budget/test_unanchored.py",),
    ),
    Fault(
        "restore_repeats",
        "after a restore an unfinished charge is answered once more",
        "budget/reconciliation.py",
        '        .values(state="failed", lease_boot=None)',
        "        .values(lease_boot=None)",
        ("tests/unit/budget/test_anchor.py",),
    ),
    Fault(
        "missing_cells",
        "a NULL cell comes back only if some row needs it",
        "query_lang/domains.py",
        "    null: tuple[None, ...] = (None,) if column.nullable else ()",
        "    null: tuple[None, ...] = ()",
        ("tests/unit/query_lang", "tests/property/test_queries.py"),
    ),
    Fault(
        "whole_loss_each",
        "each of several aggregates gets the whole loss",
        "mechanisms/pricing.py",
        "    return [Loss(_part_floor(weight / total, loss.nano_epsilon)) "
        "for weight in weights]",
        "    return [loss for _ in weights if total]",
        ("tests/unit/mechanisms",),
    ),
    Fault(
        "scale_rounded_down",
        "the scale is not checked against the loss",
        "mechanisms/calibration.py",
        "            if spends_at_most(l1_sensitivity, scale, loss):\n"
        "                return scale\n",
        "            return scale\n",
        ("tests/unit/mechanisms",),
    ),
    Fault(
        "float_losses",
        "losses pass through floats",
        "privacy/losses.py",
        '        return cls(int(whole) * NANO + int(places.ljust(9, "0")))',
        "        return cls(int(float(text) * NANO))",
        ("tests/unit/privacy",),
    ),
    Fault(
        "dead_keys_live",
        "a revoked key still opens",
        "server/use_cases/access.py",
        "                tables.key.c.revoked.is_(False),\n",
        "",
        ("tests/integration/test_reuse.py",),
    ),
    Fault(
        "expired_projects_ask",
        "a project asks after its last day",
        "server/use_cases/access.py",
        "    return expires is not None and today() >= date.fromisoformat(expires)",
        "    return False",
        ("tests/integration/test_reuse.py",),
    ),
    Fault(
        "tampering_unseen",
        "verify does not compare counters with entries",
        "budget/verification.py",
        "        *_amount_problems(connection, counter, expected.counters),\n",
        "",
        ("tests/unit/budget/test_verification.py",),
    ),
)
