"""Naive Bayes and linear classifiers over columns of inputs."""
