"""Numbers that follow from what a project paid for."""
