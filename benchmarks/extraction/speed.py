"""How many tokens a second one core tags, part by part, and seconds of training.

Run: ``OMP_NUM_THREADS=1 python -m benchmarks.extraction.speed --data FOLDER``, on a
machine that does nothing else. Trains on MEDDOCAN as ``benchmarks.extraction.meddocan``
does (or reads ``--model FILE``), then tags dev some times and takes the fastest round,
which other work disturbs least. Seconds are wall clock; of training, CPU besides.
"""

import argparse
import time
from collections.abc import Callable, Mapping, Sequence

from benchmarks.extraction.corpora import add_data
from benchmarks.extraction.dictionaries import dictionaries_of
from benchmarks.extraction.meddocan import parts_of
from benchmarks.extraction.trained import add_spec, spec_of, trained
from upstream.extraction.models.chains.inference import marginals
from upstream.extraction.models.chains.tagging import ChainTagger, batches
from upstream.extraction.models.model import TextModel
from upstream.extraction.models.training import GoldStandard

TARGET = 100_000  # tokens a second on one core


def main() -> None:
    """Train or read a model, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_data(parser)
    add_spec(parser)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--no-dictionaries", action="store_true")
    told = parser.parse_args()
    parts = parts_of(told.data, None, half=False)
    phrases = () if told.no_dictionaries else dictionaries_of("es")
    gold = GoldStandard(parts.train, parts.tune, phrases)
    model = trained("meddocan", spec_of(told.spec), gold, told.model)
    texts = [each.document.text for each in parts.judge]
    found = [measured(model, texts) for _ in range(told.rounds)]
    tokens = int(found[0].pop("tokens"))
    print(f"{tokens:,} tokens in {len(texts)} documents, fastest of {told.rounds}\n")
    print("| part | s | tokens a second |\n|---|---:|---:|")
    for part in found[0]:
        seconds = min(each[part] for each in found if part in each)
        print(f"| {part} | {seconds:.2f} | {tokens / seconds:,.0f} |")
    print(f"\ntarget of features, scores and probabilities: {TARGET:,} a second")


def measured(model: TextModel, texts: Sequence[str]) -> Mapping[str, float]:
    """Return the seconds of each part of tagging, and how many tokens there are."""
    tagger = ChainTagger(model.weights, model.spec.features, model.dictionaries)
    laps: dict[str, float] = {}
    read = _lap(laps, "features", lambda: [tagger.features(text) for text in texts])
    groups = list(batches(read))
    scores = _lap(
        laps,
        "scores",
        lambda: [tagger.scores(group) for group in groups],
    )
    _lap(
        laps,
        "probabilities",
        lambda: [marginals(each, tagger.transitions) for each in scores],
    )
    laps["all three"] = sum(laps.values())
    finder = model.finder()
    _lap(laps, "spans of texts, rules included", lambda: list(finder.find(texts)))
    return {**laps, "tokens": sum(len(each.tokens) for each in read)}


def _lap(laps: dict[str, float], part: str, call: Callable[[], object]):
    before = time.perf_counter()
    value = call()
    laps[part] = time.perf_counter() - before
    return value


if __name__ == "__main__":
    main()
