"""The hospital: loaded once for each measure, copied for each run."""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.economy.asking import DATASET, Service
from benchmarks.economy.groups import GROUPS
from benchmarks.economy.measures import DELTA, rho_within
from benchmarks.economy.tables import manifest, write_tables
from privacy.losses import NANO, Loss
from privacy.measures import PURE, Measure, zcdp
from server.use_cases.custody.populations import PopulationService
from tests.support.installations.harness import Installation, serve_in_thread
from tests.support.installations.publishing import Press

Spec = Mapping[str, object]
"""Of a release, without its readers."""

ACTOR: Final = "local:benchmark"
MOST: Final = 10
"""The greatest cap that is looked at, as an epsilon: hospitals are loaded with it."""


@dataclass(frozen=True, slots=True)
class Cap:
    """What a population may spend.

    Attributes:
        epsilon: What it amounts to, at ``DELTA`` where it is a rho.
        word: What losses are called in requests: ``epsilon`` or ``rho``.
    """

    epsilon: int
    word: str

    @property
    def measure(self) -> Measure:
        """What the population counts."""
        return zcdp(DELTA) if self.word == "rho" else PURE

    @property
    def loss(self) -> Loss:
        """The cap itself, in its measure."""
        if self.measure.is_pure:
            return Loss(self.epsilon * NANO)
        return rho_within(self.epsilon)

    def __str__(self) -> str:
        """Name it as tables do."""
        if not self.measure.is_pure:
            return f"rho {float(self.loss.epsilon):.3f}"
        return f"epsilon {self.epsilon}"


class Hospital:
    """Makes installations of one measure.

    Args:
        folder: For all of them.
        shared: The folder of shared data.
        word: ``epsilon`` or ``rho``.
    """

    def __init__(self, folder: Path, shared: Path, word: str) -> None:
        folder.mkdir()
        write_tables(shared, folder)
        self._folder, self._word = folder, word
        (folder / "hospital.yaml").write_text(manifest(self._declared()), "utf-8")
        loaded = Installation(folder / "loaded")
        loaded.folder.mkdir()
        loaded.create().load_manifest(folder / "hospital.yaml")

    def _declared(self) -> Mapping[str, object]:
        most = str(Cap(MOST, self._word).loss)
        if self._word == "rho":
            return {"measure": "zcdp", "delta": str(DELTA), "rho_cap": most}
        return {"epsilon_cap": most}

    @contextmanager
    def opened(self, cap: Cap, release: Spec | None = None) -> Iterator[Service]:
        """Serve a copy under a cap that the groups share evenly; yield how to ask it.

        Args:
            cap: Of the population.
            release: What its custodian publishes first, for all groups.
        """
        copy = Installation(self._folder / "copy")
        shutil.copytree(self._folder / "loaded", copy.folder)
        try:
            with copy.services() as services:
                PopulationService(services, ACTOR).set_cap("people", cap.loss)
            left = _left(cap, release)
            share = Loss(left.nano_epsilon // len(GROUPS))
            keys = _admitted(copy, share, release)
            with serve_in_thread(copy) as url:
                yield Service(url, cap.word, keys, share)
        finally:
            shutil.rmtree(copy.folder)


def _admitted(copy: Installation, share: Loss, release: Spec | None) -> dict[str, str]:
    """Let the groups in, and publish what there is; return their keys."""
    keys = {
        group.name: copy.analyst(group.name, group.name, DATASET, str(share))
        for group in GROUPS
    }
    if release is not None:
        readers = [{"project": group.name} for group in GROUPS]
        ended = Press(copy).publish({**release, "readers": readers})
        if ended["state"] != "done":
            raise RuntimeError(ended["error"])
    return keys


def _left(cap: Cap, release: Spec | None) -> Loss:
    if release is None:
        return cap.loss
    return cap.loss.minus_floor_zero(Loss.parse(str(release[cap.measure.word])))
