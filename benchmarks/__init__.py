"""Measurements that are run by hand or in CI."""
