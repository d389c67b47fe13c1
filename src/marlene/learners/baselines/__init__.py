"""The methods MARLENE is compared with."""
