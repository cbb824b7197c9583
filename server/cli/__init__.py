"""What each command does, by family; ``server/commands`` hands it what it needs."""
