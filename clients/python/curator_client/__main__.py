"""``python -m curator_client``: the analyst's commands."""

from curator_client.command import run

run()
