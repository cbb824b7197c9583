"""The pictures of docs/querying-sequences.md, from a tree of the demo hospital.

Run: ``python -m benchmarks.releases.asking_pictures``. Noise is drawn anew each time.
"""

import tempfile
from pathlib import Path

import matplotlib as mpl

from curator_client import Curator
from server.demo.hospital import write_hospital
from tests.e2e.test_querying_sequences_page import PATHWAYS
from tests.support.installations.harness import Installation, serve_in_thread
from tests.support.installations.publishing import Press

mpl.use("agg")
PATIENTS = 5_000
FOLDER = Path("docs/images")
SAVED = {"dpi": 90, "metadata": {"Software": None}, "pil_kwargs": {"optimize": True}}
SECOND = """
SELECT SYMBOL_AT(2) AS second, COUNT(*) AS patients FROM pathways
WHERE STARTS_WITH('emergency') AND LENGTH() >= 2 GROUP BY SYMBOL_AT(2)
"""


def main():
    """Publish, ask and draw."""
    with tempfile.TemporaryDirectory() as folder:
        made = Installation(Path(folder)).create()
        made.load_manifest(write_hospital(Path(folder) / "files", PATIENTS))
        key = made.analyst(dataset="hospital", allotment="9")
        Press(made).publish({key: v for key, v in PATHWAYS.items() if key != "split"})
        with serve_in_thread(made) as url, Curator(url, key) as curator:
            pathways = curator.release("pathways")
            drawn = {
                "tree": pathways.plot_tree(depth=3),
                "second": pathways.query(SECOND).plot("patients"),
            }
            for name, ax in drawn.items():
                ax.figure.savefig(FOLDER / f"sequences-{name}.png", **SAVED)


if __name__ == "__main__":
    main()
