"""A made-up cancer registry, as sparse and as skewed as the cube that HIDE published.

No row is of a real person, and nothing was copied from a registry. What is public
shapes it: hardly any men, ages around 62, few tumours in situ and more of them since
mammography, nearly all confirmed by histology. Two numbers of the dissertation fix
the rest: 22,174 patients, and an average slope of -76.14 deaths of cancer a year, so
that deaths fall steeply with the year of diagnosis.
"""

import numpy as np

NAMES = ("sex", "age", "year", "behaviour", "confirmation", "death", "other_death")
SHAPE = (2, 130, 36, 2, 9, 2, 2)
AGE, YEAR, DEATH = 1, 2, 5
FIRST_YEAR = 1973
PATIENTS = 22_174
_DIED_OF_IT = 15_500


def registry(yearly=0.822, rough=0.0):
    """Counts of patients by cell, one patient in one cell.

    ``yearly``: what is left of the deaths from one year of diagnosis to the next.
    ``rough``: the deviation of the logarithm of a factor on each age and year.
    """
    dice = np.random.default_rng(1973)
    died = np.arange(PATIENTS) < _DIED_OF_IT
    year = _years(dice, died, yearly)
    men = dice.random(PATIENTS) < 0.007
    age = np.clip(np.rint(dice.normal(59 + 5 * died, 14)), 18, 104).astype(np.int64)
    in_situ = dice.random(PATIENTS) < np.where(died, 0.005, 0.04 + 0.006 * year)
    confirmation = dice.choice(9, PATIENTS, p=_CONFIRMED)
    old = np.clip((age - 50) / 60, 0.02, 0.9)
    other = ~died & (dice.random(PATIENTS) < old * (1 - year / 40))
    columns = (men, age, year, in_situ, confirmation, died, other)
    if rough:
        weights = np.exp(rough * dice.normal(size=SHAPE[AGE : YEAR + 1]))[age, year]
        kept = dice.choice(PATIENTS, PATIENTS, p=weights / weights.sum())
        columns = tuple(column[kept] for column in columns)
    image = np.zeros(SHAPE, dtype=np.int64)
    np.add.at(image, tuple(column.astype(np.int64) for column in columns), 1)
    return image


_CONFIRMED = np.array([0, 0.957, 0.012, 0, 0.003, 0.001, 0.006, 0.015, 0.006])


def _years(dice, died, yearly):
    shares = yearly ** np.arange(SHAPE[YEAR])
    of_it = dice.choice(SHAPE[YEAR], len(died), p=shares / shares.sum())
    return np.where(died, of_it, dice.integers(0, SHAPE[YEAR], len(died)))
