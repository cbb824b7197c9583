"""Workers are forked: none may repeat its parent's or its sibling's noise."""

import json
import subprocess
import sys

PROGRAM = """
import json, os
from mechanisms.samplers.laplace import OpenDPSampler

def draw(sampler):
    return sampler.discrete_laplace([0] * 32, 1e9)

warm = OpenDPSampler()
draw(warm)  # whatever the parent keeps between draws is there
found = []
for _ in range(3):
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.write(writing, json.dumps([draw(warm), draw(OpenDPSampler())]).encode())
        os._exit(0)
    os.wait()
    found += json.loads(os.read(reading, 65536))
found.append(draw(warm))
print(json.dumps(found))
"""


def test_forked_processes_draw_noise_of_their_own():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    streams = [tuple(stream) for stream in json.loads(done.stdout)]
    assert len(set(streams)) == len(streams) == 7
    values = [value for stream in streams for value in stream[:8]]
    assert len(set(values)) > 50  # of 56: a stream that lags behind would repeat
