"""SQL text to private plan to SQL text of one dialect. Knows no data and no noise."""
