"""`python -m marlene` is the command `marlene`."""

from marlene.cli import main

if __name__ == "__main__":
    main()
