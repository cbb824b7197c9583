"""Manifests that publish codes, for tests of what may not be public."""

import yaml


class Publisher:
    """Writes manifests that publish codes, as a table or as a list."""

    def __init__(self, installation, how):
        self._installation = installation
        self._how = how

    def write(self, rows, codes, **more):
        manifest = self._installation.write_manifest(rows, **more)
        content = yaml.safe_load(manifest.read_text())
        if self._how == "table":
            content["tables"].append(self._table(manifest, codes))
        else:
            ward = next(
                c for c in content["tables"][0]["columns"] if c["name"] == "ward"
            )
            ward["domain"]["values"] += codes
        manifest.write_text(yaml.safe_dump(content))
        return manifest

    def _table(self, manifest, codes):
        file = manifest.with_name(f"{manifest.stem}-codes.csv")
        file.write_text("\n".join(["code", *codes]) + "\n")
        return {
            "name": "codes",
            "files": [file.name],
            "public": True,
            "source": "list",
            "columns": [{"name": "code", "type": "text"}],
        }
