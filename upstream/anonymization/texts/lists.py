"""What surrogates are drawn from: common names, made-up streets, places, hospitals."""

from dataclasses import dataclass, field


def _split(names: str) -> tuple[str, ...]:
    return tuple(names.split())


@dataclass(frozen=True)
class Lists:
    """Names to draw from; a custodian may give others.

    Attributes:
        female: Given names of women.
        male: Given names of men.
        neutral: Given names of either, for those whose own is in no list.
        surnames: Family names.
        streets: Names of streets.
        places: Names of towns.
        organizations: Names of hospitals.
    """

    female: tuple[str, ...] = _split(
        "Alice Amelia Anna Barbara Beatrice Carla Carmen Caroline Charlotte Clara "
        "Diana Edith Elena Elisa Emma Esther Eva Fiona Frieda Gloria Grace Hanna "
        "Helen Ida Irene Isabel Jane Julia Karen Laura Lena Linda Lisa Lucia Lydia "
        "Margaret Maria Martha Mia Monica Nina Nora Olga Olivia Patricia Paula Rita "
        "Rosa Ruth Sara Silvia Sofia Susan Teresa Ursula Vera Victoria Wanda"
    )
    male: tuple[str, ...] = _split(
        "Adam Albert Alfred Andrew Anthony Arthur Benjamin Bruno Carl Carlos Charles "
        "Christian Daniel David Edgar Edward Eric Felix Ferdinand Francis Frank "
        "Frederick George Gregory Harold Henry Hugo Ivan Jacob James Jorge Joseph "
        "Julian Karl Kevin Leo Leonard Louis Luis Marcus Mark Martin Max Michael "
        "Miguel Nicholas Oliver Oscar Otto Patrick Paul Pedro Peter Philip Raymond "
        "Richard Robert Samuel Simon Stephen Thomas Victor Walter William"
    )
    neutral: tuple[str, ...] = _split(
        "Alex Andrea Chris Dominique Jamie Jordan Kim Kit Lee Robin Sam Sandy Sasha "
        "Taylor Toni"
    )
    surnames: tuple[str, ...] = _split(
        "Adler Alvarez Archer Bauer Becker Bishop Blake Bryant Burke Carpenter "
        "Castro Chambers Cole Conrad Cooper Crane Cruz Dalton Dean Diaz Dixon "
        "Douglas Drake Ellis Evans Fisher Fleming Foster Fox Franklin Fuentes "
        "Garrett Gibson Gomez Graham Hale Hansen Harper Hartmann Hayes Herrera "
        "Hoffman Holland Hughes Ibarra Jensen Jordan Keller Kennedy Klein Kramer "
        "Lane Lang Larsen Lopez Lorenz Manning Marsh Mason Medina Meyer Molina "
        "Morris Navarro Nelson Norton Olsen Ortega Owens Palmer Parker Peters "
        "Porter Quinn Ramos Reed Richter Rivera Romero Ross Russell Santos Schmidt "
        "Schubert Shaw Silva Sommer Stone Torres Turner Vargas Vega Vogel Wagner "
        "Walsh Warner Weber Wells Winter Wolf Young Ziegler"
    )
    streets: tuple[str, ...] = field(
        default=tuple(
            f"{name} Street"
            for name in _split(
                "Acorn Alder Beech Birch Bridge Castle Cedar Chestnut Church Clover "
                "Elm Fern Garden Harbour Hazel Hill Juniper Lake Linden Maple Market "
                "Meadow Mill Oak Orchard Park Pine Poplar River School Spring Station "
                "Summit Valley Willow"
            )
        )
    )
    places: tuple[str, ...] = _split(
        "Ashford Brookfield Cedarville Claremont Easton Fairview Glendale Greenfield "
        "Hillsborough Kingsport Lakewood Linwood Maplewood Milton Northfield Oakdale "
        "Plainview Ridgefield Riverton Springdale Stanton Westbrook Weston Woodbury"
    )
    organizations: tuple[str, ...] = field(
        default=tuple(
            f"{name} Hospital"
            for name in _split(
                "Aldergrove Bayview Bellevue Clearwater Eastgate Fairmont Greenhill "
                "Highfield Lakeside Longmeadow Northside Parkview Riverside Southgate "
                "Summerfield Westgate"
            )
        )
    )


LISTS = Lists()
"""What is drawn from where a custodian gives none."""
