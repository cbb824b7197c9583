"""The long tier of sequence releases: every strategy, by path, level and shape."""

from dataclasses import dataclass, field, replace

from tests.audit.instruments.bounds import (
    REPORT_ALPHA,
    VERDICT_ALPHA,
    lower_bounds,
    probability_of_bound_above,
)
from tests.audit.subjects.ngrams import EPSILON, PathAudit, shapes
from tests.audit.subjects.sequences import TreeSuite
from tests.audit.subjects.suites import LEAST

TREE_UNITS = 60_000  # an arm, of trees
GRAM_UNITS = 20_000  # an arm, of grams
SHAPES = 4_000  # n-gram releases an arm
HEIGHT, KNOWN, OTHERS = 3, 60, 120  # so few that auto takes a tree, and kept for sure
AUTO_SHARE = 0.95 * 0.95  # without the evidence, and what the tree has beside it


@dataclass(frozen=True)
class TreePlan:
    """How a tree is published.

    Attributes:
        name: In the table.
        parameters: Of the strategy.
        strategy: Which publishes a tree here.
        share: Of the loss, what its levels have.
        height: Levels.
        known: Units of each group with the same path.
        others: Units that end early, so that deeper levels get another part.
    """

    name: str
    parameters: dict = field(default_factory=dict)
    strategy: str = "prefix_tree"
    share: float = 1
    height: int = HEIGHT
    known: int = KNOWN
    others: int = 0

    def suite(self, known, samples):
        return TreeSuite(
            self.height,
            known,
            samples,
            parameters=self.parameters,
            strategy=self.strategy,
            share=self.share,
            others=self.others,
        )


UNEVEN = {"height": HEIGHT + 1, "others": OTHERS}
TREES = (
    TreePlan("prefix_tree, uniform", {"budget": "uniform", "threshold": 1}),
    TreePlan("prefix_tree, geometric", {"budget": "geometric", "threshold": 1}),
    TreePlan("prefix_tree, adaptive", {"threshold": 1}, **UNEVEN),
    TreePlan(
        "prefix_tree, predictor", {"predictor": "markov", "threshold": 1}, **UNEVEN
    ),
    TreePlan("auto, which picks prefix_tree", {}, "auto", AUTO_SHARE),
)
GRAMS = (
    PathAudit(order=2, watched=(1, 2)),
    PathAudit(order=3, watched=(1, 2, 3)),
    *(PathAudit(order=2, watched=(level,)) for level in (1, 2)),
)


def audit_sequences(session):
    """Trees and grams: their paths, levels and shapes, and half the noise."""
    for plan in TREES:
        session.say(f"{plan.name}: measuring")
        audit_tree(session, plan)
    for audit in GRAMS:
        session.say(f"ngram, order {audit.order}, {audit.watched}: measuring")
        audit_grams(session, audit)
    audit_gram_shapes(session)


def audit_tree(session, plan):
    """The whole path, each level alone, the shape; each again with half the noise."""
    suite = plan.suite(plan.known, session.count(TREE_UNITS, 500))
    trees, levels = suite.run(), slice(plan.height)
    event, hits = trees.event(levels), trees.hits(levels, plan.known + 1)
    judge_bound(session, f"{plan.name}, whole path", suite.claim, hits, event)
    for level in range(plan.height):
        own = slice(level, level + 1)
        name = f"{plan.name}, level {level + 1} alone"
        hits, claim = trees.hits(own, plan.known + 1), trees.level_claim(level)
        judge_bound(session, name, claim, hits, trees.event(own))
    faulty = replace(suite, samples=session.count(TREE_UNITS // 4, 6_000)).run("1/2")
    caught = faulty.hits(levels, plan.known + 1)
    judge_caught(session, f"{plan.name}, whole path", suite.claim, caught)
    audit_tree_shape(session, plan)


def audit_tree_shape(session, plan):
    suite = plan.suite(0, session.count(TREE_UNITS, 500))
    bound = suite.run().structure_bound(plan.height)
    session.judge(
        bound <= float(suite.epsilon),
        f"{plan.name}, existence, depth, nodes, bytes: charge {suite.epsilon}, "
        f"{suite.samples} samples an arm, largest LB at 1 - 1e-6 {bound:.3f}",
    )


def audit_grams(session, audit):
    """A path of grams, or one length of them."""
    hits, scales = audit.run(session.count(GRAM_UNITS, 500))
    name = f"ngram, order {audit.order}, grams of {audit.watched}"
    judge_bound(session, name, audit.claim, hits, audit.event(scales))
    samples = session.count(GRAM_UNITS // 4, audit.faulty)
    if len(audit.watched) > 1:
        caught, _ = audit.run(samples, factor="1/2")
        judge_caught(session, name, audit.claim, caught)


def audit_gram_shapes(session):
    samples = session.count(SHAPES, 50)
    session.say(f"ngram, shape: {samples} releases an arm")
    seen = [shapes(samples, present=present) for present in (True, False)]
    bound = lower_bounds(*seen, samples, VERDICT_ALPHA / len(seen[0])).max()
    session.judge(
        bound <= float(EPSILON),
        f"ngram, existence, depth, grams, bytes: charge {EPSILON}, {samples} samples "
        f"an arm, largest LB at 1 - 1e-6 {bound:.3f}",
    )


def judge_bound(session, name, claim, hits, event):
    """At most the claim, and at least 0.7 of it where so many samples can show that."""
    bound, floor = hits.lower_bound(VERDICT_ALPHA), LEAST * claim
    shows = 1 - probability_of_bound_above(event, hits.samples, floor) < VERDICT_ALPHA
    session.judge(
        bound <= claim and (bound >= floor or not shows),
        f"{described(name, claim, hits)}"
        f"{'' if shows else ' (too few samples for 0.7)'}",
    )


def judge_caught(session, name, claim, hits):
    """Half the noise shows more than was charged."""
    caught = hits.lower_bound(VERDICT_ALPHA) > claim
    session.judge(caught, f"noise x 0.5 caught: {described(name, claim, hits)}")


def described(name, claim, hits):
    return (
        f"{name}: claim {claim:.3g}, {hits.samples} samples an arm, "
        f"LB99.9 {hits.lower_bound(REPORT_ALPHA):.3f}, "
        f"LB at 1 - 1e-6 {hits.lower_bound(VERDICT_ALPHA):.3f}"
    )
