"""Files as versions of the program wrote them: `python -m tests.versions` writes those of this one that are missing.

`FOLDER/expected.json` says what each file must lead to. Later versions must read all of them.
"""
