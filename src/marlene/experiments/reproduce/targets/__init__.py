"""The reproduce targets: one module each, called like the target on the command line."""
