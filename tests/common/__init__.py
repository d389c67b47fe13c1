"""Tests of what every floor needs."""
