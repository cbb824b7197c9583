"""Commands on a full disk say so, record nothing by halves, and leave no traceback."""

import re

import pytest

from tests.crash.instruments.disks import filled, small_disk
from tests.support.installations.harness import ImportingInstallation

pytestmark = pytest.mark.thorough
MIB = 1 << 20


class SmallInstallation(ImportingInstallation):
    """An installation whose data lie on a small file system."""

    @property
    def data(self):
        return self.folder / "disk" / "data"


def test_commands_on_a_full_disk_say_so_and_record_nothing(tmp_path):
    with small_disk(tmp_path / "disk", 60 * MIB) as disk:
        installation = SmallInstallation(tmp_path)
        installation.initialise()
        manifest = str(installation.write_manifest(cap="100000"))
        assert installation.curator("dataset", "load", manifest).returncode == 0
        snapshots = installation.data / "snapshots"
        before = sorted(path.name for path in snapshots.iterdir())
        entries = installation.curator("ledger", "verify").stdout
        for left in (0, 300_000, 600_000):
            with filled(disk, left):
                assert_refused(installation.curator("dataset", "load", manifest))
                assert sorted(path.name for path in snapshots.iterdir()) == before
        with filled(disk, 0):
            told = installation.curator(
                "principal", "create", "eve", "--role", "analyst"
            )
            assert_refused(told)
        assert installation.curator("ledger", "verify").stdout == entries
        assert installation.curator("dataset", "load", manifest).returncode == 0


def assert_refused(told):
    assert told.returncode == 1
    assert "Traceback" not in told.stderr
    assert "no space is left on the device that holds CURATOR_DATA" in told.stderr
    assert re.search(r"nothing was |this step was not recorded", told.stderr)
    assert "backup" not in told.stderr
