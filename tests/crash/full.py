"""The full counts of the experiments: ``python -m tests.crash.full [NAME ...]``.

Part of ``make audit-long``; about an hour and a half on two slow cores. Prints what was
counted, and exits with 1 where anything was wrong. ``--scale 0.01`` tries it out.
``--database postgresql`` runs races and kills on a throwaway PostgreSQL, served by four
processes.
"""

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from server.use_cases.custody.projects import ProjectService
from tests.crash.instruments.books import problems, settle, spent
from tests.crash.instruments.disks import Trouble, run_full_disks
from tests.crash.instruments.filled import fill
from tests.crash.instruments.images import film, image_problems
from tests.crash.instruments.job_kills import run_job_cancels, run_job_kills
from tests.crash.instruments.kills import SCOPES, run_kills, total_charged
from tests.crash.instruments.orders import DATASETS, PROMISED, trace_answers
from tests.crash.instruments.processes import Nursery
from tests.crash.instruments.races import run_races
from tests.crash.instruments.release_submitter import ReleaseSubmitter, TreeSubmitter
from tests.crash.instruments.tampers import run_tampers
from tests.support.installations.clusters import Cluster
from tests.support.installations.harness import ImportingInstallation, Installation

DICE = random.Random()


def races(nursery, installation, key, count):
    """L1: 3,000 rounds of 64 clients on the last epsilon."""
    done = list(run_races(nursery, installation, key, count))
    wrong = [race for race in done if not race.is_right]
    return f"{len(done)} rounds, {len(wrong)} wrong", wrong + problems(installation)


def kills(nursery, installation, key, count):
    """L3: 500 kills with eight in flight, at most 100 in one installation."""
    findings = run_kills(nursery, installation, key, count)
    for scope in SCOPES:
        if spent(installation, scope) != total_charged(installation):
            findings.wrong.append(f"{scope} is not the sum of its charges")
    said = (
        f"{findings.kills} kills, {findings.seen} answers seen, "
        f"{len(findings.unseen)} not, "
        f"{findings.recovered} of these charged before the kill and recovered"
    )
    return said, findings.wrong + problems(installation)


def tampers(nursery, installation, _, count):
    """L14: 200 random edits and more."""
    filled = Installation(_folder(installation, "filled")).create()
    fill(nursery, filled)
    missed = run_tampers(filled, _folder(installation, "copies"), DICE, count)
    return f"{count - len(missed)} of {count} edits found", missed


def orders(nursery, installation, key, count):
    """L2: the order of syncs, reads and sends of 200 answers."""
    for dataset in DATASETS[1:]:
        installation.load(dataset=dataset)
        with installation.services() as services:
            ProjectService(services, "local:test").grant_dataset("study", dataset)
    found = Counter(trace_answers(nursery, installation, key, count))
    wrong = [order for order in found if order != PROMISED]
    return f"{found[PROMISED]} of {found.total()} in order", wrong


def cuts(nursery, installation, key, count):
    """L4: 100 power cuts, in four films."""
    wrong, sends, films = [], 0, 4
    for number in range(films):
        filmed = film(nursery, installation, key, 64, name=f"film{number}")
        for cut in range(-(-count // films)):
            place = DICE.randrange(len(filmed.events))
            target = _folder(installation, f"cut-{number}-{cut}")
            copy, sent = filmed.cut(place, DICE, target)
            sends += len(sent)
            wrong += image_problems(copy, sent)
    return f"{count} cuts, {sends} answers had been sent before them", wrong


def disks(nursery, installation, key, count):
    """L8: 200 full disks."""
    with nursery.serving(installation) as server:
        trouble = Trouble(server, installation, key)
        run_full_disks(trouble, DICE, count)
        settle(installation)
    said = f"{count} full disks: {dict(trouble.statuses)}, {dict(trouble.codes)}"
    return said, trouble.wrong + problems(installation)


def jobs(nursery, installation, _, count):
    """100 killed workers, and as many cancelled jobs."""
    importing = ImportingInstallation(installation.folder)
    killed = run_job_kills(nursery, importing, count)
    cancelled = run_job_cancels(nursery, importing, count)
    said = (
        f"{killed.rounds} workers killed, {killed.retried} jobs taken over, all "
        f"{killed.states}; {cancelled.rounds} jobs cancelled: {cancelled.states}"
    )
    undone = ["a job of a killed worker was not done"] * (
        killed.states.get("done", 0) != count
    )
    return said, killed.wrong + cancelled.wrong + undone


def releases(nursery, installation, _, count):
    """100 workers killed while they publish cubes, and as many cancelled."""
    return _published(nursery, installation, count, ReleaseSubmitter)


def trees(nursery, installation, _, count):
    """100 workers killed while they publish sequences, and as many cancelled."""
    return _published(nursery, installation, count, TreeSubmitter)


def _published(nursery, installation, count, submitter_type):
    importing = ImportingInstallation(installation.folder, url=installation.url)
    killed = run_job_kills(nursery, importing, count, submitter_type=submitter_type)
    cancelled = run_job_cancels(
        nursery, importing, count, submitter_type=submitter_type
    )
    said = (
        f"{killed.rounds} workers killed, {killed.retried} releases taken over, all "
        f"{killed.states}; {cancelled.rounds} cancelled: {cancelled.states}"
    )
    undone = ["a release of a killed worker was not published"] * (
        killed.states.get("done", 0) != count
    )
    return said, killed.wrong + cancelled.wrong + undone


EXPERIMENTS = {
    "races": (races, 3_000),
    "kills": (kills, 500),
    "tampers": (tampers, 2_000),
    "orders": (orders, 200),
    "cuts": (cuts, 100),
    "disks": (disks, 200),
    "jobs": (jobs, 100),
    "releases": (releases, 100),
    "trees": (trees, 100),
}


SHARED = ("races", "kills", "releases", "trees")
"""What runs on PostgreSQL too; the others look into SQLite's files."""


def _folder(installation, name):
    folder = installation.folder / name
    folder.mkdir()
    return folder


def _run(nursery, name, scale, cluster):
    experiment, full = EXPERIMENTS[name]
    start = time.monotonic()
    more = {} if cluster is None else {"url": cluster.database(), "workers": 4}
    with tempfile.TemporaryDirectory() as folder:
        installation = Installation(Path(folder), **more).create()
        installation.load()
        key = installation.analyst()
        said, wrong = experiment(nursery, installation, key, max(4, int(full * scale)))
    print(f"{name}: {said} ({time.monotonic() - start:.0f} s)", flush=True)
    for fault in wrong[:20]:
        print(f"  WRONG: {fault}", flush=True)
    return not wrong


def main():
    """Run the experiments that were named, or all."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("names", nargs="*", choices=[*EXPERIMENTS, []])
    reader.add_argument("--scale", type=float, default=1.0)
    reader.add_argument("--database", choices=["sqlite", "postgresql"])
    told = reader.parse_args()
    nursery, cluster = Nursery(), None
    names = told.names or EXPERIMENTS
    if told.database == "postgresql":
        cluster = Cluster().create()
        names = told.names or SHARED
    try:
        right = [_run(nursery, name, told.scale, cluster) for name in names]
    finally:
        if cluster is not None:
            cluster.close()
    sys.exit(0 if all(right) else 1)


if __name__ == "__main__":
    main()
