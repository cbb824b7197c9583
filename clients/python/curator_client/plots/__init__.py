"""Pictures of answers, by matplotlib: which axes, and what stands on them."""
