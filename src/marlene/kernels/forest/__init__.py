"""How a Hoeffding forest votes, learns and splits, over the arrays all its trees share."""
