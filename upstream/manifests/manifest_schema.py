"""The published JSON Schema of a manifest, for editors and other programs.

``python -m upstream.manifests.manifest_schema`` rewrites
``upstream/manifests/manifest.schema.json``.
"""

import json
from pathlib import Path

from upstream.manifests.manifest import Manifest

PUBLISHED = Path(__file__).with_name("manifest.schema.json")


def manifest_json_schema() -> str:
    """Return the JSON Schema of a manifest as text, in the form that is committed."""
    schema = Manifest.model_json_schema(by_alias=True)
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "Curator manifest"
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    PUBLISHED.write_text(manifest_json_schema(), encoding="utf-8")
