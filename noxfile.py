"""`nox` runs the tests with every Python that is found here; `nox -s test-3.12` with one. The steps are make's."""

import nox

PYTHONS = ["3.11", "3.12", "3.13", "3.14"]

nox.options.error_on_missing_interpreters = False


@nox.session(python=PYTHONS)
def test(session: nox.Session) -> None:
    """Run `make test` in an environment of its own."""
    session.run("make", "test", f"PYTHON={session.bin}/python", f"TEST=.venv-{session.python}", external=True)


@nox.session(python=PYTHONS)
def demo(session: nox.Session) -> None:
    """Run `make demo` in an environment of its own."""
    session.run("make", "demo", f"PYTHON={session.bin}/python", f"DEMO=.venv-demo-{session.python}", external=True)
