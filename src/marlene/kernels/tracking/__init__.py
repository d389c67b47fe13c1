"""Track the best classifier of every label, and inherit from it."""
