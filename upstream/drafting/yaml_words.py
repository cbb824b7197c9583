"""Values as a manifest writes them."""

import json


def in_yaml(value: object) -> str:
    """Return a value as YAML has it in one line."""
    return json.dumps(value, ensure_ascii=False)
