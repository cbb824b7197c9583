"""A3: 24 questions at once, and one patient with 15 visits: no reply tells of them."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from statistics import mean

import pytest

from benchmarks.slots import late_replies
from tests.audit.instruments.bounds import area_under_curve
from tests.support.data.singled_out import (
    AGES,
    COSTLY,
    by_age,
    drawn_order,
    make_installation,
    most_at_random,
)
from tests.support.installations.harness import ask, client, free_port, serve_in_process

pytestmark = [pytest.mark.thorough, pytest.mark.long]

AT_ONCE = 24
TURNS = 40
SIZES = {"patients": 300, "visits": 15, "of_the_patient": 15}
METRICS_SECONDS = 11  # they are read every 10 s


def test_replies_to_24_at_once_leave_alike_with_the_patient_and_without(tmp_path):
    installation = make_installation(tmp_path, slot_ms=100, **SIZES)
    key, order, metrics = installation.analyst(), drawn_order(TURNS), free_port()
    told = {"CURATOR_METRICS_PORT": str(metrics)}
    with ExitStack() as stack:
        url = stack.enter_context(serve_in_process(installation, environment=told))
        https = [stack.enter_context(client(url, key)) for _ in range(AT_ONCE)]
        pool = stack.enter_context(ThreadPoolExecutor(AT_ONCE))
        together = threading.Barrier(AT_ONCE)

        def seconds(http, age):
            together.wait(60)
            started = time.monotonic()
            reply = ask(http, COSTLY.format(age=age), epsilon="0.01")
            assert reply.status_code == 200, reply.text
            return time.monotonic() - started

        turns = [
            mean(pool.map(seconds, https, [age] * AT_ONCE)) for age in (*AGES, *order)
        ]
        time.sleep(METRICS_SECONDS)
        late = late_replies(metrics)
    area = area_under_curve(*by_age(turns[len(AGES) :], order))
    if late > AT_ONCE * len(AGES):  # the first ones start everything
        pytest.skip(
            f"too busy a machine: {late} late replies, counted; area {area:.2f}"
        )
    assert abs(area - 0.5) < most_at_random(TURNS)
