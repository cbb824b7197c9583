"""The jobs of a linkage: sources to a register, unit keys to tables and a load."""
