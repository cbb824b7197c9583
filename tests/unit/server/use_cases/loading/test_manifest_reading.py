import signal
import threading
import time
from contextlib import closing

from server.use_cases.loading.manifest_reading import (
    MOST_SAID,
    MOST_WAITING,
    OUTSIDE,
    ManifestReader,
    Reading,
    reading_of,
)
from server.use_cases.services.errors import BusyError


def manifest(folder, text):
    (folder / "m.yaml").write_text(text)
    return folder.resolve(), "m.yaml"


def test_what_is_wrong_is_told_with_the_population_that_is_named(tmp_path):
    found = reading_of(*manifest(tmp_path, "population: {id: p}\n"))
    assert (found.path, found.population, found.inputs) == (None, "p", [])
    assert "version" in str(found.refused)


def test_a_name_that_is_too_long_for_a_file_is_no_manifest(tmp_path):
    found = reading_of(tmp_path, f"{'m' * 5_000}.yaml")
    assert found == Reading(None, None, [], OUTSIDE)


def test_of_a_manifest_with_very_much_wrong_the_first_part_is_told(tmp_path):
    keys = "".join(f"key_{i}: 1\n" for i in range(20_000))
    refused = str(reading_of(*manifest(tmp_path, keys)).refused)
    assert len(refused) < MOST_SAID + 100
    assert refused.endswith("correct these first")


def test_a_child_reads_and_one_that_takes_too_long_or_died_is_replaced(tmp_path):
    there = manifest(tmp_path, "population: {id: p}\n")
    with closing(ManifestReader()) as reader:
        assert reader.read(*there) == reading_of(*there)
        child = reader._child._process
        assert reader.read(*there) == reading_of(*there)
        child.send_signal(signal.SIGSTOP)  # one that has replied in no time is not late
        reader._timeout_seconds = 0.05
        late = reader.read(*there)
        assert (late.path, late.population) == (None, None)
        assert "takes longer" in str(late.refused)
        assert child.returncode == -signal.SIGKILL  # the same one, reaped
        reader._timeout_seconds = 60
        assert reader.read(*there) == reading_of(*there)
        reader._child._process.kill()
        reader._child._process.wait()
        assert reader.read(*there) == reading_of(*there)


def test_more_than_a_few_at_once_are_refused_and_begin_nothing(tmp_path):
    reader, found = ManifestReader(), []
    there = manifest(tmp_path, "population: {id: p}\n")

    def read():
        try:
            found.append(reader.read(*there))
        except BusyError as error:
            found.append(str(error))

    threads = [threading.Thread(target=read) for _ in range(2 + MOST_WAITING)]
    with reader._turn:  # as while a child reads
        for thread in threads:
            thread.start()
        deadline = time.monotonic() + 10
        while not found and time.monotonic() < deadline:
            time.sleep(0.01)
    for thread in threads:
        thread.join()
    reader.close()
    refused = [one for one in found if isinstance(one, str)]
    assert (len(found), len(refused)) == (2 + MOST_WAITING, 1)
    assert "submit it again" in refused[0]
