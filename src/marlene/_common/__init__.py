"""What all packages share: errors, checks, array types, files, saved states."""
