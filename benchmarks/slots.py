"""How long questions take with all permits taken: what the slots are set by.

Run: ``python -m benchmarks.slots``. Prints latency at 1, 8 and 64 questions at once,
with slots off, and the milliseconds per question that the largest load implies.
"""

import tempfile
import threading
import time
from pathlib import Path

from tests.harness import Installation, ask, client, serve_in_process

ROUNDS = 4
SQL = (
    "SELECT sex, ward, COUNT(DISTINCT patient_id), COUNT(*) AS visits"
    " FROM visits GROUP BY sex, ward"
)


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        installation = Installation(Path(folder)).create()
        installation.load()
        key = installation.analyst()
        with serve_in_process(installation) as url:
            for at_once in (1, 8, 64):
                latencies = sorted(measure(url, key, at_once))
                worst = latencies[-1] * 1000
                print(
                    f"{at_once:3} at once: median "
                    f"{latencies[len(latencies) // 2] * 1000:6.1f} ms, "
                    f"worst {worst:6.1f} ms, {worst / at_once:5.1f} ms a question"
                )


def measure(url: str, key: str, at_once: int) -> list[float]:
    """Return the seconds that each question took."""
    latencies: list[float] = []
    barrier = threading.Barrier(at_once)

    def work() -> None:
        with client(url, key) as http:
            http.get("/healthz")
            for _ in range(ROUNDS):
                barrier.wait()
                started = time.monotonic()
                ask(http, SQL).raise_for_status()
                latencies.append(time.monotonic() - started)

    threads = [threading.Thread(target=work) for _ in range(at_once)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return latencies


if __name__ == "__main__":
    main()
