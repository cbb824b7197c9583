"""The forms in which a unit's id may be written."""
