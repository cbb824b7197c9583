"""k-anonymity: nobody stands in a class of fewer than k rows, or patients.

Sources: Samarati 2001; Sweeney 2002.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from upstream.anonymization.arrays import Flags
from upstream.anonymization.columns.classes import Classes
from upstream.anonymization.principles.cells import people_of
from upstream.anonymization.principles.principle import Sensitive


@dataclass(frozen=True, slots=True)
class KAnonymity:
    """Every class has at least k rows.

    Attributes:
        k: Rows, at least 1.
    """

    k: int

    def __post_init__(self) -> None:
        if self.k < 1:
            message = f"k is {self.k}: it must be 1 or more"
            raise ValueError(message)

    @property
    def is_monotone(self) -> bool:
        """True: classes only grow."""
        return True

    @property
    def monotone(self) -> "KAnonymity":
        """Return it: all of it is."""
        return self

    @property
    def is_absorbing(self) -> bool:
        """True: classes only grow."""
        return True

    @property
    def least_size(self) -> int:
        """Return k."""
        return self.k

    @property
    def sensitive(self) -> Sequence[Sensitive]:
        """Return none."""
        return ()

    def holds(self, classes: Classes) -> Flags:
        """Return by class whether it has k rows."""
        return np.asarray(classes.sizes() >= self.k)

    def __str__(self) -> str:
        return f"{self.k}-anonymity"


@dataclass(frozen=True, slots=True)
class PatientAnonymity:
    """Every class has rows of at least k patients, who may have several rows each.

    Attributes:
        patients: Whose each row is.
        k: Patients, at least 1.
    """

    patients: Sensitive
    k: int

    def __post_init__(self) -> None:
        if self.k < 1:
            message = f"k is {self.k}: it must be 1 or more"
            raise ValueError(message)

    @property
    def is_monotone(self) -> bool:
        """True: patients only join."""
        return True

    @property
    def monotone(self) -> "PatientAnonymity":
        """Return it: all of it is."""
        return self

    @property
    def is_absorbing(self) -> bool:
        """True: patients only join."""
        return True

    @property
    def least_size(self) -> int:
        """Return k: that many patients have as many rows."""
        return self.k

    @property
    def sensitive(self) -> Sequence[Sensitive]:
        """Return the column of patients, which have to be told apart."""
        return (self.patients,)

    def holds(self, classes: Classes) -> Flags:
        """Return by class whether it has k patients."""
        return np.asarray(people_of(classes, self.patients) >= self.k)

    def __str__(self) -> str:
        return f"{self.k}-anonymity of patients"
