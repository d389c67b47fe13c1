"""One page for a run, or for several runs side by side: a file that works offline."""

from marlene.report._compare import Compared, comparison_page
from marlene.report._history import History
from marlene.report._page import ReportPage
from marlene.report._run import run_page

__all__ = ["Compared", "History", "ReportPage", "comparison_page", "run_page"]
