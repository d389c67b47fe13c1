"""Base classifiers, as learners use them."""
