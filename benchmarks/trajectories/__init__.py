"""Anonymized codes and notes beside the published figures."""
