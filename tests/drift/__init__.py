"""Tests of the drift detectors."""
