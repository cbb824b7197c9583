"""Curator beside its peers: ``python -m benchmarks.peers [--rows 1000000]``.

Five questions at epsilon 1, eight rows of each patient, on the same made-up rows. Each
tool runs in an environment of its own below ``--folder`` (made once, by pip; Tumult
needs a Java, lomas some 6 GB), one after the other in one run. Prints medians in
milliseconds and how many times Curator's each is. Curator's figures are whole HTTP
calls with a durable, anchored ledger; slots are off, nothing is reused and every call
has a text of its own. The peers' are library calls in a warm process, but lomas'.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from benchmarks.peers.facts import ASKED_CODE, KEPT_ROWS
from benchmarks.peers.postgres import throwaway
from benchmarks.peers.tables import write_tables

HERE = Path(__file__).parent
QUESTIONS = ("Q1", "Q2", "Q3", "Q4", "Q5")
PACKAGES = {
    "smartnoise": ("smartnoise-sql", "psycopg2-binary", "pyarrow"),
    "opendp": ("opendp[polars]", "pyarrow"),
    "tumult": ("tmlt.analytics", "pyarrow"),
    "lomas": ("lomas-server", "lomas-client", "setuptools<80", "scikit-learn<1.8"),
}
TOOLS = ("curator", "curator_postgres", "duckdb", *PACKAGES)
Medians = dict[str, float]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, default=Path("build/peers"))
    parser.add_argument("--only", choices=TOOLS, nargs="+", default=TOOLS)
    told = parser.parse_args()
    folder = told.folder.resolve()
    tables = folder / str(told.rows)
    write_tables(tables, told.rows)
    with (
        tempfile.TemporaryDirectory(prefix="curator-peers-") as place,
        throwaway(Path(place) / "postgres") as server,
    ):
        found = {
            tool: asked(tool, folder, tables, server)
            for tool in TOOLS
            if tool in told.only
        }
    show(found)


def asked(tool: str, folder: Path, tables: Path, server: str) -> Medians:
    """Return one tool's medians, by question; say why where there is none."""
    print(f"{tool} ...", file=sys.stderr, flush=True)
    words = [str(tables), ASKED_CODE]
    if tool.startswith("curator"):
        return _curator(tool, words, server)
    if tool == "smartnoise":
        words += [str(KEPT_ROWS), f"{server} dbname=peers"]
    elif tool == "lomas":
        words += [str(KEPT_ROWS), "18777"]
    else:
        words += [str(KEPT_ROWS)]
    python = environment(folder, tool) if tool in PACKAGES else sys.executable
    return run([python, str(HERE / f"ask_{tool}.py"), *words])


def _curator(tool: str, words: list[str], server: str) -> Medians:
    port = server.split("port=")[1].split(maxsplit=1)[0]
    url = f"postgresql+psycopg://bench@127.0.0.1:{port}/curator"
    with tempfile.TemporaryDirectory() as home:
        told = [*words, home, url if tool == "curator_postgres" else ""]
        return run([sys.executable, "-m", "benchmarks.peers.ask_curator", *told])


def run(command: list[str]) -> Medians:
    """Run one tool's script, and read what it measured."""
    done = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL if "ask_curator" not in command[2] else None,
        text=True,
        check=False,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
    )
    medians: Medians = {}
    for line in done.stdout.splitlines():
        if not line.startswith('{"question"'):
            continue
        result = json.loads(line)
        if "error" in result:
            print(f"  {result['question']}: {result['error']}", file=sys.stderr)
        else:
            medians[result["question"]] = result["median_ms"]
    if done.returncode:
        print(f"  ended with {done.returncode}", file=sys.stderr)
    return medians


def environment(folder: Path, tool: str) -> str:
    """Return the Python of a tool's own environment, made once."""
    home = folder / "environments" / tool
    python = str(home / "bin" / "python")
    if not (home / "done").exists():
        venv.create(home, with_pip=True)
        subprocess.run(
            [python, "-m", "pip", "install", "--quiet", *PACKAGES[tool]], check=True
        )
        (home / "done").touch()
    return python


def show(found: dict[str, Medians]) -> None:
    """Print the table; a ratio is a tool's time over Curator's."""
    print("| tool | " + " | ".join(QUESTIONS) + " | geometric mean, times Curator |")
    print("|---|" + "---:|" * (len(QUESTIONS) + 1))
    ours = found.get("curator", {})
    for tool, medians in found.items():
        cells = []
        for question in QUESTIONS:
            if question not in medians:
                cells.append("-")
            elif question in ours and tool != "curator":
                times = medians[question] / ours[question]
                cells.append(f"{medians[question]:.2f} ({times:.2f})")
            else:
                cells.append(f"{medians[question]:.2f}")
        both = [q for q in QUESTIONS if q in medians and q in ours]
        logs = [math.log(medians[q] / ours[q]) for q in both]
        mean = f"{math.exp(sum(logs) / len(logs)):.2f}" if logs else "-"
        print(f"| {tool} | {' | '.join(cells)} | {mean} |")


if __name__ == "__main__":
    main()
