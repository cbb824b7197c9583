"""What plans take beside what is predicted."""
