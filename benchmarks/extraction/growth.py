"""Seconds and memory of tagging a hundred to a hundred thousand notes.

Run: ``OMP_NUM_THREADS=1 python -m benchmarks.extraction.growth [--most 100000]``. A
model learns 300 generated notes in some seconds (averaged perceptron); then each number
of notes is generated and tagged as a stream in a process of its own, whose peak memory
is what grows or does not. Prints a Markdown table.
"""

import argparse
import multiprocessing
import resource
import time
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.extraction.trained import spec_of, trained
from server.demo.notes.notes import draw_notes
from upstream.extraction.models.model_files import read_model
from upstream.extraction.models.training import GoldStandard
from upstream.extraction.text.tokens import tokenize

HEAD = "| notes | tokens | s | tokens a second | peak MiB |\n" + "|---:" * 5 + "|"
LEARNED = 300
QUICK = '{"training": {"algorithm": "ap", "iterations": 20}}'
_MOST_PATIENTS = 10**7


def main() -> None:
    """Train, measure each size in a process of its own, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--most", type=int, default=100_000)
    told = parser.parse_args()
    print(HEAD)
    with TemporaryDirectory() as folder:
        kept = Path(folder) / "model"
        learned = list(islice(draw_notes(LEARNED, seed=9), LEARNED))
        trained("notes", spec_of(QUICK), GoldStandard(learned), kept)
        sizes = [10**power for power in range(2, 10) if 10**power <= told.most]
        for size in sizes:
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                tokens, seconds, peak = pool.apply(tagged, (kept, size))
            rate = tokens / seconds
            line = f"{size:,} | {tokens:,} | {seconds:.1f} | {rate:,.0f} | {peak:.0f}"
            print(f"| {line} |", flush=True)


def tagged(kept: Path, notes: int) -> tuple[int, float, float]:
    """Return tokens, seconds of tagging without generating, and peak MiB."""
    finder = read_model(kept.read_bytes()).finder()
    aside, tokens = 0.0, 0

    def stream():
        nonlocal aside, tokens
        drawn = islice(draw_notes(_MOST_PATIENTS, seed=4), notes)
        while True:
            before = time.perf_counter()
            each = next(drawn, None)
            if each is None:
                return
            tokens += len(tokenize(each.document.text))
            aside += time.perf_counter() - before
            yield each.document.text

    begun = time.perf_counter()
    for _ in finder.find(stream()):
        pass
    seconds = time.perf_counter() - begun - aside
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return tokens, seconds, peak


if __name__ == "__main__":
    main()
