"""Tables and a complete report in LaTeX, and its PDF."""

from .pdf import make_pdf
from .rendering import TABLES, render_report, render_table

__all__ = ["TABLES", "make_pdf", "render_report", "render_table"]
