"""How marked spans of texts are written for other programs."""

from typing import Literal

Format = Literal["brat", "json", "presidio", "tags"]
