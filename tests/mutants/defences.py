"""Faults that switch a defence off; the rows of docs/threat-model.md name them."""

from tests.mutants.faults import Fault

DEFENCES = (
    Fault(
        "children_search",
        "children search the working directory and PYTHONPATH before our own folder",
        "engines/processes/child_processes.py",
        '[sys.executable, "-I", *quiet, start, module, *arguments]',
        '[sys.executable, *quiet, "-m", module, *arguments]',
        ("tests/attacks/http/test_e12_strangers_code.py",),
    ),
    Fault(
        "snapshot_unlocked",
        "the snapshot's configuration stays open to whatever runs there",
        "engines/duckdb/snapshots.py",
        '            "lock_configuration": "true",\n',
        "",
        ("tests/unit/engines/duckdb/test_engine.py",),
    ),
    Fault(
        "plan_reads_rows",
        "a plan shows something that it computed from rows",
        "server/use_cases/questions/asking/service.py",
        "        free = self._stored_offers(grant, question)\n",
        "        filled = self.executing.execution(question).run().sealed()\n"
        "        read = str([vector.unseal() for vector in filled])\n"
        "        free: list[FreeAnswer] = [\n"
        '            {"kind": "answer", "id": read, "epsilon": "1"}\n'
        "        ]\n",
        (
            "tests/attacks/answers/test_a2_budget_channel.py",
            "tests/attacks/answers/test_a10_estimates.py",
        ),
    ),
    Fault(
        "replies_at_once",
        "replies leave as soon as they are ready",
        "server/api/routing/slots.py",
        "await asyncio.sleep(arrival + slots * self.slot_seconds - time.monotonic())",
        "await asyncio.sleep(0)",
        ("tests/attacks/timing/test_a3_slots.py",),
    ),
    Fault(
        "sums_in_64_bits",
        "integers are added in 64 bits, so that one patient's row can raise",
        "query_lang/rendering/duckdb/wide.py",
        '    return Fragment("CAST(") + own + Fragment(" AS HUGEINT)")',
        "    return own",
        ("tests/attacks/answers/test_a5_error_oracle.py",),
    ),
    Fault(
        "bugs_are_quoted",
        "a bug's problem document quotes what it met",
        "server/api/schemas/problems.py",
        'return Problem("internal_error", "the server failed")',
        'return Problem("internal_error", str(error))',
        ("tests/attacks/answers/test_a7_metadata.py",),
    ),
    Fault(
        "no_cell_for_null",
        "a cell comes back only where the declaration's author thought of it",
        "query_lang/plans/domains.py",
        "    null: tuple[None, ...] = (None,) if facts.nullable else ()",
        "    null: tuple[None, ...] = ()",
        ("tests/attacks/answers/test_a8_existence.py",),
    ),
    Fault(
        "small_counts_hidden",
        "counts are suppressed by their exact value",
        "mechanisms/measuring/discrete_laplace.py",
        "            raise UnpaidMeasurementError\n"
        "        return sampler.discrete_laplace(sealed.unseal(), self.scale)",
        "            raise UnpaidMeasurementError\n"
        "        exact = sealed.unseal()\n"
        "        noisy = sampler.discrete_laplace(exact, self.scale)\n"
        "        return [0 if e < 11 else n for e, n in zip(exact, noisy)]",
        ("tests/attacks/answers/test_a9_true_thresholds.py",),
    ),
    Fault(
        "any_question_is_the_same",
        "a stored answer is offered for whatever has the same weights",
        "query_lang/plans/canonical.py",
        '"plan": plan_to_json(plan), ',
        '"plan": type(plan).__name__, ',
        (
            "tests/attacks/answers/test_c1_repeats.py",
            "tests/attacks/answers/test_c3_rewrites.py",
        ),
    ),
    Fault(
        "cap_unread",
        "the filter does not look at what is left",
        "budget/charging/filter.py",
        "    if any(left is not None and request.loss > left for left in "
        "before.values()):",
        "    if False:",
        ("tests/property/test_privacy_filter.py", "tests/crash/test_races.py"),
    ),
    Fault(
        "words_unaccounted",
        "parts of a text that no rule read are passed over",
        "query_lang/reading/token_check.py",
        "    if at < len(marks):\n"
        "        raise refuse(rules.UNREAD_TEXT, tokens[at].position)",
        "    if False:\n"
        "        raise refuse(rules.UNREAD_TEXT, tokens[at].position)",
        ("tests/unit/query_lang/reading/test_token_check.py",),
    ),
    Fault(
        "texts_without_end",
        "a text may have any number of tokens",
        "query_lang/reading/limits.py",
        "    if len(tokens) > MAX_TOKENS:",
        "    if False:",
        ("tests/unit/query_lang/reading/test_limits.py",),
    ),
    Fault(
        "duplicate_keys_read",
        "the last of two equal keys of a body wins",
        "server/use_cases/services/strict_json.py",
        "            object_pairs_hook=_object,\n",
        "",
        ("tests/attacks/http/test_e1_malformed_bodies.py",),
    ),
    Fault(
        "bodies_unread",
        "a key brings its answer whatever the body",
        "budget/charging/queries.py",
        "    if first_fingerprint != fingerprint:",
        "    if False:",
        ("tests/attacks/http/test_e4_replay.py",),
    ),
    Fault(
        "served_while_restoring",
        "a restore that has not ended is not looked for",
        "server/installing.py",
        "    _refuse_unfinished(settings, finishing=ends_restore)\n",
        "",
        ("tests/cli/host/test_init.py",),
    ),
    Fault(
        "moved_without_an_entry",
        "a moved ledger ends where the file that it left ends",
        "budget/checking/moving.py",
        "    if head == record.head:\n        head = _append(new, record, actor)\n",
        "",
        ("tests/crash/moving/test_moves.py",),
    ),
    Fault(
        "revoked_keys_open",
        "a revoked key still opens",
        "server/use_cases/identity/access.py",
        "            tables.key.c.revoked.is_(False),\n",
        "",
        ("tests/attacks/http/test_e6_access.py",),
    ),
    Fault(
        "enabled_with_keys",
        "a principal that is enabled again has its old keys",
        "server/use_cases/custody/people.py",
        "            revoke_keys(change, tables.key.c.principal == name)\n",
        "",
        ("tests/integration/people/test_enabling.py",),
    ),
    Fault(
        "enabled_with_tokens",
        "a principal that is enabled again has its old tokens",
        "server/use_cases/identity/access.py",
        "(books.last_reconciled(connection) or 0, _last_enabled(connection, name))",
        "(books.last_reconciled(connection) or 0, 0)",
        ("tests/integration/people/test_enabling.py",),
    ),
    Fault(
        "enabled_with_approvals",
        "a principal that is enabled again has its old approvals",
        "server/use_cases/custody/people.py",
        "            end_proposals(change, concerns(name))\n",
        "",
        ("tests/integration/people/test_enabling.py",),
    ),
    Fault(
        "counters_trusted",
        "verify does not compare counters with entries",
        "budget/checking/verification.py",
        "        *_amount_problems(connection, counter, expected.counters),\n",
        "",
        ("tests/integration/ledger/test_ledger_tampers.py",),
    ),
    Fault(
        "seedable_noise",
        "noise may come from a generator that can be seeded",
        "mechanisms/samplers/laplace.py",
        "from collections.abc import Callable, Sequence\n",
        "import random\nfrom collections.abc import Callable, Sequence\n",
        ("tests/architecture/test_single_makers.py",),
    ),
    Fault(
        "no_noise",
        "the sampler adds nothing",
        "mechanisms/samplers/laplace.py",
        "return list(_measurement(scale)(saturated))",
        "return list(saturated)",
        ("tests/audit/quick/test_quick_game.py",),
    ),
)  # fmt: skip
