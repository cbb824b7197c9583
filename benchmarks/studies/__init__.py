"""What planning a study takes, beside what is counted for it."""
