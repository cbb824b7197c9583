"""Values as they were written made into values that can be compared."""
