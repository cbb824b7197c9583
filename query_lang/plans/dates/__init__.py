"""Pure functions of dates: the calendar that plans, bounds and engines share."""
