"""Which blocks of a population a plan can touch: from the plan alone, no data."""
