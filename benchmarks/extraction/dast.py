"""DAST's table of extraction again: two classifiers, rules, and what any of them finds.

Run: ``python -m benchmarks.extraction.dast --data FOLDER [--corpus meddocan]``. Prints
what Liu et al. print in table 2 for names, dates and ages: recall, precision and F1 of
support vectors, of a conditional random field, of rules that are not trained, and of
the union of all. Without ``--corpus`` on reports with injected identifiers.
"""

import argparse
from collections.abc import Iterable, Iterator, Mapping

from benchmarks.extraction.chosen import add_corpus, chosen_parts, phrases_for
from benchmarks.extraction.corpora import add_data
from benchmarks.extraction.tables import print_overview
from upstream.extraction.measures.report import judge
from upstream.extraction.models.chains.crf import CrfChoices
from upstream.extraction.models.chains.linear import LinearChoices
from upstream.extraction.models.model import ModelSpec, TextModel, UnionFinder
from upstream.extraction.models.rules import Rule, Rules
from upstream.extraction.models.training import GoldStandard, train_model
from upstream.extraction.models.union import Risk, fill, union
from upstream.extraction.text.spans import AnnotatedDocument, Span

TYPES: Mapping[str, Mapping[str, str]] = {
    "reports": {"NAME": "PATIENT", "DATE": "DATE", "AGE": "AGE"},
    "queries": {"NAME": "NAME", "DATE": "DATE"},
    "meddocan": {
        "NAME": "NOMBRE_SUJETO_ASISTENCIA",
        "DATE": "FECHAS",
        "AGE": "EDAD_SUJETO_ASISTENCIA",
    },
}
"""Of each gold standard, what a name, a date and an age are called."""
FORMS = {
    "numeric_date": "DATE",
    "written_date": "DATE",
    "age": "AGE",
    "titled_name": "NAME",
}
SURENESS = 0.5  # of a rule that was not learned


def main() -> None:
    """Train both, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_data(parser)
    add_corpus(parser, 200)
    parser.add_argument("--algorithm", choices=("lbfgs", "ap"), default="lbfgs")
    told = parser.parse_args()
    parts = chosen_parts(told)
    types = TYPES[told.corpus]
    gold = GoldStandard(parts.train, parts.tune, phrases_for(told))
    held = [_of_types(each, set(types.values())) for each in parts.judge]
    algorithms = {
        "SVM-based": LinearChoices(algorithm="svm"),
        "CRF-based": CrfChoices(algorithm=told.algorithm),
    }
    models: dict[str, TextModel] = {}
    for name, training in algorithms.items():
        spec = ModelSpec(training=training, rules="none", types=tuple(types.values()))
        models[name] = train_model(name, spec, gold)
    rules = untrained_rules(types)
    risks = {types["DATE"]: Risk.INDIRECT, types.get("AGE", ""): Risk.INDIRECT}
    both = UnionFinder(list(models.values()), risks)

    def ruled(texts: Iterable[str]) -> Iterator[tuple[Span, ...]]:
        return (fill((), rules.find(text)) for text in texts)

    def aggregated(texts: Iterable[str]) -> Iterator[tuple[Span, ...]]:
        read = list(texts)
        for text, spans in zip(read, both.find(read), strict=True):
            yield union([spans, rules.find(text)], risks)

    judged = {name: judge(held, model.finder().find) for name, model in models.items()}
    judged["rule-based"] = judge(held, ruled)
    judged["SVM and CRF"] = judge(held, both.find)
    judged["aggregator (all three)"] = judge(held, aggregated)
    title = f"{told.corpus}: {', '.join(types.values())}, {len(held)} documents"
    print_overview(title, judged)


def untrained_rules(types: Mapping[str, str]) -> Rules:
    """Return rules by which a form means one type, whatever a gold standard says."""
    return Rules(
        {
            form: Rule(types[kind], SURENESS)
            for form, kind in FORMS.items()
            if kind in types
        }
    )


def _of_types(each: AnnotatedDocument, types: set[str]) -> AnnotatedDocument:
    spans = tuple(span for span in each.spans if span.label in types)
    return AnnotatedDocument(each.document, spans)


if __name__ == "__main__":
    main()
