"""Texts are read from a custodian's sources, one at a time; bad ones are set aside."""
