"""HIDE's tables of extraction again: each label, groups of features, naive Bayes.

Run: ``python -m benchmarks.extraction.hide --data FOLDER [--corpus meddocan]``. Prints,
on one gold standard, what Gardner 2012 prints on gated ones: precision, recall and F1
of each label by tokens, begin and intermediate apart (tables 4.4 and 4.5); which groups
of features matter (figure 4.5); and naive Bayes without and with cost-proportionate
sampling at its probabilities (tables 4.6 to 4.8).
"""

import argparse
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from benchmarks.extraction.chosen import add_corpus, chosen_parts, phrases_for
from benchmarks.extraction.corpora import Parts, add_data
from benchmarks.extraction.tables import print_overview
from benchmarks.extraction.trained import add_spec, spec_of
from upstream.extraction.features.feature_set import FeatureChoices
from upstream.extraction.measures.counts import Counts, total
from upstream.extraction.measures.report import Judgement, judge
from upstream.extraction.models.chains.crf import CrfChoices
from upstream.extraction.models.chains.linear import LinearChoices
from upstream.extraction.models.decisions import Decision
from upstream.extraction.models.model import ModelSpec, TextModel
from upstream.extraction.models.sampling import CostProportionate, EveryToken
from upstream.extraction.models.training import GoldStandard, train_model
from upstream.extraction.text.labels import OUTSIDE, labelling
from upstream.extraction.text.spans import AnnotatedDocument
from upstream.extraction.text.tokens import tokenize

QUICK = CrfChoices(algorithm="ap", iterations=20)
HIDES = {
    "expressions": "r",
    "affixes": "a",
    "context": "c",
    "dictionaries": "d",
}
SUBSETS = ("rac", "ac", "rc", "ra", "c", "r", "a")
COSTS = {"ID": 0.2, "PHONE": 0.2, "AGE": 0.3, "DATE": 0.5}
"""Table 4.6; names, and what it does not name, are 1, and other tokens .1."""


def main() -> None:
    """Train each, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_data(parser)
    add_corpus(parser, 150)
    add_spec(parser)
    told = parser.parse_args()
    parts = chosen_parts(told)
    gold = GoldStandard(parts.train, parts.tune, phrases_for(told))
    print(f"{told.corpus}: {len(parts.train)} documents trained on, ", end="")
    print(f"{len(parts.judge)} judged")
    whole = train_model("whole", spec_of(told.spec), gold)
    print_labels("label (as tables 4.4 and 4.5), all features", whole, parts.judge)
    print_overview("features (as figure 4.5), perceptron", by_features(gold, parts))
    for title, sampling in (
        ("label (as table 4.7), naive Bayes", EveryToken()),
        ("label (as table 4.8), its sampling", CostProportionate(probabilities=COSTS)),
    ):
        spec = ModelSpec(
            training=LinearChoices(algorithm="bayes", penalty=0.01),
            features=_features("racd", gold),
            sampling=sampling,
            rules="none",
        )
        model = replace(train_model("bayes", spec, gold), decision=Decision())
        print_labels(title, model, parts.judge)


def by_features(gold: GoldStandard, parts: Parts) -> Mapping[str, Judgement]:
    """Return how good a perceptron is with subsets of HIDE's groups, and with ours."""
    found = {}
    subsets = (*(("racd",) if gold.dictionaries else ()), *SUBSETS)
    for subset in subsets:
        spec = ModelSpec(training=QUICK, features=_features(subset, gold), rules="none")
        model = train_model(subset, spec, gold)
        found[subset] = judge(parts.judge, model.finder().find)
    model = train_model("ours", ModelSpec(training=QUICK, rules="none"), gold)
    return {"all of ours": judge(parts.judge, model.finder().find), **found}


def _features(subset: str, gold: GoldStandard) -> FeatureChoices:
    groups = {name: letter in subset for name, letter in HIDES.items()}
    groups["dictionaries"] &= bool(gold.dictionaries)
    none = dict.fromkeys(set(FeatureChoices.model_fields) - {*groups, "window"}, False)
    return FeatureChoices(**groups, **none)


def print_labels(
    title: str, model: TextModel, held: Sequence[AnnotatedDocument]
) -> None:
    """Print precision, recall and F1 of each label, by tokens."""
    counts = label_counts(model, held)
    print(f"\n| {title} | tokens | P | R | F1 |\n|---|---:|---:|---:|---:|")
    everything = {"all": total(counts.values())}
    for label, each in {**dict(sorted(counts.items())), **everything}.items():
        print(
            f"| {label} | {each.right + each.missed} | {each.precision:.4f} "
            f"| {each.recall:.4f} | {each.f1:.4f} |"
        )


def label_counts(
    model: TextModel, held: Sequence[AnnotatedDocument]
) -> Mapping[str, Counts]:
    """Return the counts of each label, such as ``PATIENT (begin)``, by tokens."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    found = model.finder().find(each.document.text for each in held)
    for each, spans in zip(held, found, strict=True):
        tokens = tokenize(each.document.text)
        there = labelling(tokens, each.spans).labels
        said = labelling(tokens, spans).labels
        for true, guess in zip(there, said, strict=True):
            if true == guess != OUTSIDE:
                counts[_named(true)]["right"] += 1
            else:
                counts[_named(guess)]["false"] += 1
                counts[_named(true)]["missed"] += 1
    counts.pop(OUTSIDE, None)
    return {label: Counts(**each) for label, each in counts.items()}


def _named(label: str) -> str:
    if label == OUTSIDE:
        return OUTSIDE
    return f"{label[2:]} ({'begin' if label[0] == 'B' else 'intermediate'})"


if __name__ == "__main__":
    main()
