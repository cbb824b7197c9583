"""Each rule of the rule table names its proof, and each proof tests that exist."""

import inspect
import re
from pathlib import Path
from typing import get_args

import pytest

from mechanisms.measuring.meter import Meter
from mechanisms.measuring.sparse_counts import noisy_sparse
from mechanisms.samplers.biased_tests import BiasedTests
from query_lang.binding import scope
from query_lang.plans import expressions, sensitivity, stability
from query_lang.plans import nodes as plan

ROOT = Path(__file__).parents[2]
PROOFS = ROOT / "docs" / "proofs"
RULES = [
    *(getattr(stability, n) for n in sorted(vars(stability)) if n.endswith("_rows")),
    *(f for n, f in sorted(vars(sensitivity).items()) if n.endswith("_sensitivity")),
    sensitivity.groups_per_unit,
    sensitivity.varying_keys,
    scope.with_constancy,
    scope.Relation.extended_with_null,
    expressions.UnitInQuery,
    expressions.ExistsInQuery,
    plan.tie_break,
    *(Meter.counts, Meter.sparse_counts, Meter.choose, Meter.biased_tests),
    *(Meter, BiasedTests, noisy_sparse),
    *get_args(plan.Node),
    *get_args(plan.MeasureKind),
]
NO_BOUND = {stability.check_rows}
NAMED = {"ids": lambda value: getattr(value, "__name__", str(value))}


def proofs_named_by(rule):
    return re.findall(r"(\w+)\.md", inspect.getdoc(rule) or "")


@pytest.mark.parametrize("rule", [r for r in RULES if r not in NO_BOUND], **NAMED)
def test_each_rule_names_a_proof_that_exists(rule):
    named = proofs_named_by(rule)
    assert named
    assert [name for name in named if not (PROOFS / f"{name}.md").exists()] == []


@pytest.mark.parametrize("name", sorted({n for r in RULES for n in proofs_named_by(r)}))
def test_each_proof_of_a_rule_says_whose_neighbours_and_is_proved(name):
    text = (PROOFS / f"{name}.md").read_text("utf-8")
    assert "ADD_REMOVE_UNIT" in text
    assert "∎" in text
    assert "**Code.**" in text
    assert "Held by:" in text


def test_every_test_named_in_a_proof_exists():
    written = "\n".join(path.read_text("utf-8") for path in ROOT.glob("tests/**/*.py"))
    tests = set(re.findall(r"def (test_\w+)\(", written))
    missing = []
    for page in sorted(PROOFS.glob("*.md")):
        text = page.read_text("utf-8")
        named = set(re.findall(r"`(test_\w+)`", text))
        missing += [f"{page.name}: {name}" for name in sorted(named - tests)]
        files = re.findall(r"`(tests/[\w/.]+)`", text)
        missing += [f"{page.name}: {f}" for f in files if not (ROOT / f).exists()]
    assert missing == []
