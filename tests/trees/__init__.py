"""Tests of the Hoeffding trees."""
