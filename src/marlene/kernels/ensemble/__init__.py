"""How sub-classifiers vote, are judged and are trained, row by row."""
