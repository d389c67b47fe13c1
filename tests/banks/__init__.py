"""Banks of simple classifiers."""
