"""HIDE's loop between extraction and linking: what each round gained.

Run: ``python -m benchmarks.linking.loop [--corpus reports --data FOLDER]``. A model
learns a few notes of other patients; two tables and the notes of some hundred patients
are linked with what the model found, by a simple deterministic matcher or by match
weights (``--matcher weights``), and so on.
Prints a Markdown table of rounds for each way to use what is known, of several
hospitals together; a round that gains nothing says so.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace

from benchmarks.extraction.corpora import add_data
from benchmarks.extraction.trained import spec_of
from benchmarks.linking.corpora import Corpus, demo_corpus, report_corpus
from benchmarks.linking.looped import Judged, MemoryLoop, Ways
from benchmarks.linking.matching import match
from benchmarks.linking.scored import link_by_weights
from upstream.extraction.measures.report import Judgement
from upstream.linkage.loop.rounds import MOST_ROUNDS, Round, run_rounds

QUICK = {"training": {"algorithm": "ap", "iterations": 20}}
HEAD = (
    "| {} | P | R | F1 | chars leaked | new spans | new values | notes linked, wrongly "
    "| patients changed | pairs P | pairs R |\n|---|" + "---:|" * 10
)
WAYS = {
    "known values": {},
    "dictionaries": {"known": False, "dictionaries": True},
    "known values, own notes": {"own_notes": True},
    "all three, kept": {"dictionaries": True, "own_notes": True, "keep": True},
}
MATCHERS = {"keys": match, "weights": link_by_weights}
KINDS = ("notes", "records")
Step = tuple[Round, Judged]


def main() -> None:
    """Run each way, print its rounds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_data(parser)
    parser.add_argument("--corpus", choices=("demo", "reports"), default="demo")
    parser.add_argument("--patients", type=int, default=400, help="of a hospital")
    parser.add_argument("--learned", type=int, default=30, help="notes to train on")
    parser.add_argument("--seeds", type=int, nargs="*", default=[1, 2, 3])
    parser.add_argument("--rounds", type=int, default=MOST_ROUNDS)
    parser.add_argument("--ways", nargs="*", choices=tuple(WAYS), default=list(WAYS))
    parser.add_argument("--matcher", choices=tuple(MATCHERS), default="keys")
    parser.add_argument("--spec", default="{}", help="a ModelSpec as JSON")
    told = parser.parse_args()
    corpora = [corpus_of(told, seed) for seed in told.seeds]
    notes, rows = (sum(len(getattr(each, kind)) for each in corpora) for kind in KINDS)
    print(f"{len(corpora)} hospitals, {notes:,} notes, {rows:,} rows in all")
    for name in told.ways:
        link = MATCHERS[told.matcher]
        ways = Ways(spec_of(told.spec, **QUICK), link=link, **WAYS[name])
        steps = [looped(corpus, ways, told.rounds) for corpus in corpora]
        print_rounds(name, list(together(steps)))


def corpus_of(told: argparse.Namespace, seed: int) -> Corpus:
    """Return the corpus that is told."""
    if told.corpus == "demo":
        return demo_corpus(told.patients, told.learned, seed)
    return report_corpus(told.data, told.patients, told.learned, seed)


def looped(corpus: Corpus, ways: Ways, most: int) -> list[Step]:
    """Return what each round changed, and how good it was."""
    loop = MemoryLoop(corpus, ways)
    rounds = run_rounds(loop, most)
    return list(zip(rounds.rounds, loop.judged, strict=True))


def together(hospitals: Sequence[Sequence[Step]]) -> Iterator[Step]:
    """Yield each round of all hospitals; one that has ended stays as it is."""
    for at in range(max(map(len, hospitals))):
        steps = [_at(steps, at) for steps in hospitals]
        rounds, judged = zip(*steps, strict=True)
        counts = {
            name: sum(getattr(each, name) for each in rounds)
            for name in ("documents", "new_documents", "spans", "values", "patients")
        }
        yield Round(at + 1, **counts), _sum(judged)


def _at(steps: Sequence[Step], at: int) -> Step:
    if at < len(steps):
        return steps[at]
    last, judged = steps[-1]
    return replace(last, new_documents=0, spans=0, values=0, patients=0), judged


def _sum(judged: Sequence[Judged]) -> Judged:
    pairs = judged[0].pairs
    for each in judged[1:]:
        pairs += each.pairs
    return Judged(
        Judgement(tuple(one for each in judged for one in each.spans.documents)),
        pairs,
        sum(each.linked for each in judged),
        sum(each.wrongly for each in judged),
    )


def print_rounds(name: str, steps: Sequence[Step]) -> None:
    """Print a line for each round, and whether the loop gained anything."""
    print("\n" + HEAD.format(name))
    for each, found in steps:
        print(line(each, found), flush=True)
    if not any(each.has_gained for each, _ in steps[1:]):
        print("\nThe loop gained nothing.")


def line(each: Round, found: Judged) -> str:
    """Return one line of the table."""
    strict = found.spans.strict()
    gained = "" if each.has_gained else ", gained nothing"
    return (
        f"| round {each.number}{gained} | {strict.precision:.4f} "
        f"| {strict.recall:.4f} | {strict.f1:.4f} | {found.spans.characters.missed:,} "
        f"| {each.spans:,} | {each.values:,} | {found.linked:,}, {found.wrongly:,} "
        f"| {each.patients:,} | {found.pairs.precision:.4f} "
        f"| {found.pairs.recall:.4f} |"
    )


if __name__ == "__main__":
    main()
