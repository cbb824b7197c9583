"""Published releases as a catalog in DCAT, the W3C's vocabulary for data catalogs."""

from typing import Final
from urllib.parse import urlencode

from server.use_cases.releases.replies import ReleaseItem
from server.use_cases.services.documents import Document
from server.use_cases.services.paging import ListOf

_CONTEXT: Final = {
    "dcat": "http://www.w3.org/ns/dcat#",
    "dct": "http://purl.org/dc/terms/",
    "hydra": "http://www.w3.org/ns/hydra/core#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}
_MEDIA_TYPES: Final = "https://www.iana.org/assignments/media-types/"
_ACCESS: Final = "http://publications.europa.eu/resource/authority/access-right/"
_FILES: Final = (
    ("csv", "text/csv", "format=csv"),
    ("parquet", "application/vnd.apache.parquet", "format=parquet"),
    ("data package", "application/json", "format=json&table=datapackage"),
    ("signed manifest", "application/json", "format=json"),
)


def catalog_of(page: ListOf[ReleaseItem], limit: int) -> Document:
    """Return a page of releases as a catalog; addresses are relative to the server."""
    cursor = page["next_cursor"]
    following: Document = {}
    if cursor is not None:
        more = urlencode({"limit": limit, "cursor": cursor})
        following["hydra:next"] = {"@id": f"/v1/catalog?{more}"}
    return {
        "@context": _CONTEXT,
        "@id": "/v1/catalog",
        "@type": "dcat:Catalog",
        "dct:title": "Releases of a Curator server",
        "dct:description": "Differentially private tables that were paid for once, "
        "and are free to read and to ask.",
        "dcat:dataset": [_dataset(item) for item in page["items"]],
        **following,
    }


def _dataset(item: ReleaseItem) -> Document:
    path = f"/v1/releases/{item['id']}"
    return {
        "@id": path,
        "@type": "dcat:Dataset",
        "dct:identifier": item["id"],
        "dct:title": item["name"],
        "dct:description": (
            f"Differentially private {item['kind']} of {item['dataset']}, counting "
            f"{item['counts']}: epsilon {item['epsilon']}, strategy "
            f"{item['strategy']}. Counts have noise, and may be negative."
        ),
        "dct:issued": {"@type": "xsd:dateTime", "@value": item["created"]},
        "dct:accessRights": {
            "@id": f"{_ACCESS}{'PUBLIC' if item['public'] else 'RESTRICTED'}"
        },
        "dcat:keyword": ["differential privacy", item["kind"], item["dataset"]],
        "dcat:landingPage": {"@id": path},
        "dcat:distribution": [_distribution(path, *file) for file in _FILES],
    }


def _distribution(path: str, title: str, media_type: str, query: str) -> Document:
    address = {"@id": f"{path}/download?{query}"}
    return {
        "@id": f"{path}/download?{query}#file",
        "@type": "dcat:Distribution",
        "dct:title": title,
        "dcat:accessURL": address,
        "dcat:downloadURL": address,
        "dcat:mediaType": {"@id": f"{_MEDIA_TYPES}{media_type}"},
    }
