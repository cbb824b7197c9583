"""What all commands share: arguments, printing, progress."""
