"""Makes the PDF, where LaTeX is installed."""

import shutil
import subprocess
import tempfile
from pathlib import Path

from ...files import atomic_write

_SECONDS = 600  # how long latexmk may take


def make_pdf(source: Path, target: Path, overwrite: bool = False) -> str | None:
    """Compile a report; returns a note if LaTeX is missing or fails, else None."""
    latexmk = shutil.which("latexmk")
    if latexmk is None:
        return f"{target.name} was not made because latexmk is not installed; {source.name} was"
    command = [latexmk, "-norc", "-pdf", "-interaction=nonstopmode", "-halt-on-error"]
    with tempfile.TemporaryDirectory() as work:
        try:
            run = subprocess.run(
                [*command, f"-outdir={work}", source.name], cwd=source.parent,
                capture_output=True, text=True, errors="replace", timeout=_SECONDS, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return f"{target.name} was not made: latexmk took longer than {_SECONDS} seconds"
        made = Path(work, source.stem + ".pdf")
        if run.returncode or not made.exists():
            return f"{target.name} was not made: latexmk says {_complaint(run.stdout + run.stderr)}"
        atomic_write(target, made.read_bytes(), overwrite)
    return None


def _complaint(output: str) -> str:
    """The first error in the output of LaTeX."""
    errors = [line for line in output.splitlines() if line.startswith("!")]
    lines = errors or [line for line in output.splitlines() if line.strip()] or ["nothing"]
    return repr(lines[0] if errors else lines[-1])
