"""Trees of codes and of ages: what generalises what."""
