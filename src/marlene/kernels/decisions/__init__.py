"""From scores to probabilities and predictions: calibration, cuts, and decisions for a row as a whole."""
