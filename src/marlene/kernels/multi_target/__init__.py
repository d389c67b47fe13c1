"""Multi-target trees (iSOUP)."""
