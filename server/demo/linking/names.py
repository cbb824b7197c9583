"""Names, as often as real ones occur and with accents, and their short forms.

The lists are our own. A few surnames are borne by many, and most by few: the number of
people falls with a name's rank, and half of the people have a name from a long tail.
"""

from functools import cache
from itertools import product

from server.demo.notes.lists import Lists

_MOST = 40  # how often the commonest given name stands in a list
_ACCENTED_WOMEN = ("Zoë", "Jovanna", "Inés", "Chloé", "Renée", "Sofía", "Märta")
_ACCENTED_MEN = ("José", "André", "Jürgen", "René", "Søren", "Ángel", "François")
_ACCENTED_SURNAMES = (
    *("Muñoz", "Müller", "Núñez", "Gómez", "Pérez", "Beauséjour", "Lefèvre"),
    *("Sørensen", "Åkesson", "Göransson", "Ibáñez", "Château-Renault", "D'Hérelle"),
)
_STEMS = (
    *("Ash", "Bark", "Birken", "Brad", "Cald", "Crom", "Dale", "Eller", "Fen"),
    *("Garth", "Hal", "Harg", "Heath", "Holm", "Kel", "Lang", "Lock", "Mars"),
    *("Nether", "Oak", "Pem", "Quar", "Rad", "Rother", "Sel", "Stan", "Thorn"),
    *("Under", "Wake", "Wether", "Wind", "Yar"),
)
_ENDINGS = (
    *("bourne", "bury", "by", "den", "field", "ford", "ham", "hurst", "ley"),
    *("man", "more", "ridge", "shaw", "stead", "ston", "thwaite", "ton", "well"),
    *("wick", "worth"),
)
SHORT_FORMS = {
    "Elizabeth": ("Liz", "Betty", "Beth"),
    "Margaret": ("Peggy", "Maggie"),
    "Katherine": ("Kate", "Kathy"),
    "Patricia": ("Pat", "Patty"),
    "Jennifer": ("Jen", "Jenny"),
    "Susan": ("Sue",),
    "Barbara": ("Barb",),
    "Deborah": ("Debbie",),
    "Rebecca": ("Becky",),
    "William": ("Bill", "Will"),
    "Robert": ("Bob", "Rob"),
    "Richard": ("Rick", "Dick"),
    "James": ("Jim",),
    "John": ("Jack",),
    "Michael": ("Mike",),
    "Thomas": ("Tom",),
    "Joseph": ("Joe",),
    "Charles": ("Chuck", "Charlie"),
    "Edward": ("Ted", "Ed"),
    "Christopher": ("Chris",),
    "Anthony": ("Tony",),
    "Steven": ("Steve",),
}
"""Given names, and what their bearers are written as by people who know them."""


@cache
def common_lists() -> Lists:
    """Return lists in which a name stands as often as people bear it.

    >>> lists = common_lists()
    >>> lists.surnames.count("Smith") > 20 * lists.surnames.count("Thornwick")
    True
    """
    plain = Lists()
    tail = [first + last for first, last in product(_STEMS, _ENDINGS)]
    head = _by_rank((*plain.surnames, *_ACCENTED_SURNAMES), len(tail) // 12)
    return Lists(
        women=_by_rank((*plain.women, *_ACCENTED_WOMEN), _MOST),
        men=_by_rank((*plain.men, *_ACCENTED_MEN), _MOST),
        surnames=(*head, *tail),
    )


def _by_rank(names: tuple[str, ...], most: int) -> tuple[str, ...]:
    """Return names repeated: the one of rank r about ``most`` * 10 / (9 + r) times."""
    return tuple(
        name
        for rank, name in enumerate(names, 1)
        for _ in range(max(1, round(most * 10 / (9 + rank))))
    )
