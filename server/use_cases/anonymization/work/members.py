"""Who is in a copy: hashes to compare copies by, and how many its population knows."""

import hashlib
import hmac
import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import select

from server.persistence import tables
from server.use_cases.anonymization.intersection import Members
from server.use_cases.loading.overlaps import Overlaps
from server.use_cases.services.secret_files import read_secret
from server.use_cases.services.services import Services
from upstream.id_forms.loose_ids import id_forms
from upstream.ingestion.secrets import derive_keys
from upstream.staging.canonical import (
    UnitIdError,
    canonical_unit_id,
    folded_unit_id,
)
from upstream.staging.row_hash import population_id

_LABEL = b"curator patients of copies\0"


@dataclass(frozen=True, slots=True)
class RawMembers:
    """Who is in which class, as he is named; all by published row.

    Attributes:
        patients: As the source names them; none where only a linkage does.
        classes: The classes.
        keys: As a linkage found them; None where none was asked.
    """

    patients: Sequence[str]
    classes: Sequence[int]
    keys: Sequence[str] | None = None


class KnownPeople:
    """The patients of a population, as copies and loads name them."""

    def __init__(self, services: Services, population: str) -> None:
        self._services, self._population = services, population
        self._secret = read_secret(services.settings.secret_file)

    def members(self, told: RawMembers) -> Members:
        """Return who is in which class, by hashes that no two populations share.

        However files write an id (``0012``, ``12``, ``P-12`` and ``p 12``), its patient
        has one hash.
        """
        key = hmac.digest(self._secret, _LABEL + self._population.encode(), "sha256")
        named = [f"id\0{_form(one)}" for one in told.patients]
        keys = None if told.keys is None else [f"key\0{one}" for one in told.keys]
        return Members(
            _hashed(key, named or keys or []),
            np.array(told.classes, np.int64),
            None if keys is None else _hashed(key, keys),
        )

    def count(self, names: Sequence[str]) -> int | None:
        """Return how many of some patients a load of the population had, by their ids.

        None: nothing was loaded. Other populations are not looked at: whether somebody
        is in one must not be told by a copy.

        Raises:
            CommandRefusedError: The overlap file is missing or was changed.
        """
        table = tables.population
        with self._services.databases.reader.connect() as connection:
            wanted = select(table).where(table.c.name == self._population)
            row = connection.execute(wanted).one()
        folds = json.loads(row.declaration).get("unit_fold") or []
        overlaps = Overlaps(self._services.settings.overlaps)
        known = overlaps.known(self._population, row.overlap_digest)
        if not known:
            return None
        key = derive_keys(self._secret).population
        found = 0
        for name in set(names):
            try:
                unit = canonical_unit_id(name, row.unit_type)
            except UnitIdError:
                continue
            folded = None if unit is None else folded_unit_id(unit, folds)
            found += folded is not None and population_id(key, folded) in known
        return found


def _form(uid: str) -> str:
    """Return one way of writing an id, of all that mean the same.

    >>> _form("0012"), _form("P-012"), _form("p 12")
    ('12', 'p12', 'p12')
    """
    forms = id_forms(uid)
    return next((one for one in forms if one.isdecimal()), (*forms, uid)[0])


def _hashed(key: bytes, names: Sequence[str]) -> NDArray[np.uint64]:
    """Return a hash of each name, equal ones alike."""
    known = {
        name: hmac.digest(key, name.encode(), hashlib.sha256) for name in set(names)
    }
    return np.array([int.from_bytes(known[name][:8]) for name in names], np.uint64)
