"""What installations are after acts that many tests begin with: made once a run.

Loading a hundred rows takes 0.4 s, copying what a load has made 10 ms, and a thousand
tests begin with the same one. An act is taken from memory only where everything that
it depends on is the same: the bytes of the data directory and of the anchor, the
settings and the act's own arguments. Then the files that it left are put there, so
nothing is faked: they are what the real act wrote, in another folder.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

_FOLDER: list[Path] = []
_PARTS = ("data", "anchor")
_OF_SERVING = {"slot_ms", "rate_limit", "max_in_flight", "permits"}
"""Settings that no act reads which is remembered: they are of requests alone."""


def remember_in(folder: Path):
    """Keep what acts make in a folder that the workers of this run share."""
    _FOLDER[:] = [folder]


def remembered(installation, act: tuple, do: Callable[[], object]):
    """Return what an act gives, done or put there from memory; its result is JSON.

    Without a folder to keep things in, on PostgreSQL, or while anything has the data
    open, it is done.
    """
    root = installation.folder
    if not _FOLDER or installation.url or not _is_at_rest(root):
        return do()
    told = installation.settings.model_dump_json(exclude=_OF_SERVING)
    settings = told.replace(str(root), "")
    key = hashlib.blake2b(repr((_state(root), settings, act)).encode(), digest_size=20)
    kept = _FOLDER[0] / key.hexdigest()
    if not kept.is_dir():
        result = do()
        _keep(root, kept, result)
        return result
    for part in _PARTS:
        shutil.rmtree(root / part, ignore_errors=True)
        shutil.copytree(kept / part, root / part)
    return json.loads((kept / "result").read_text())


def _keep(root, kept, result):
    if not _is_at_rest(root):
        return
    draft = kept.with_suffix(f".{os.getpid()}")
    for part in _PARTS:
        shutil.copytree(root / part, draft / part)
    (draft / "result").write_text(json.dumps(result))
    try:
        draft.rename(kept)
    except OSError:  # another worker was sooner
        shutil.rmtree(draft)


def _files(root):
    return sorted(
        path for part in _PARTS for path in (root / part).rglob("*") if path.is_file()
    )


def _is_at_rest(root):
    """Say whether no process has the ledger open: SQLite keeps its log beside it."""
    return not any(path.name.endswith(("-wal", "-shm")) for path in _files(root))


def _state(root):
    digest = hashlib.blake2b(digest_size=20)
    for path in _files(root):
        digest.update(f"{path.relative_to(root)} {path.stat().st_size}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()
