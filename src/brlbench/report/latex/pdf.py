"""Makes the PDF, where LaTeX is installed."""

import shutil
import subprocess
import tempfile
from pathlib import Path

from ...errors import reason
from ..notes import Note

_SECONDS = 600  # timeout of latexmk


def make_pdf(source: Path) -> bytes | Note:
    """Compile a report; returns the PDF, or a note if LaTeX is missing or fails."""
    target, latexmk = source.with_suffix(".pdf").name, shutil.which("latexmk")
    if latexmk is None:
        return Note(f"{target} was not made because latexmk is not installed; {source.name} was")
    try:
        with tempfile.TemporaryDirectory() as work:
            output = _compiled(latexmk, source, Path(work))
    except subprocess.TimeoutExpired:
        return Note(f"{target} was not made: latexmk took longer than {_SECONDS} seconds")
    except OSError as error:  # no place for temporary files, for example
        return Note(f"{target} was not made: {reason(error)}")
    if isinstance(output, str):
        return Note(f"{target} was not made: latexmk says {output}")
    return output


def _compiled(latexmk: str, source: Path, work: Path) -> bytes | str:
    """The PDF, or the complaint of latexmk."""
    # A copy without other files of the folder, in which LaTeX would look for packages.
    folder = source.parent
    for part in (source, *folder.glob("tables/*.tex"), *folder.glob("figures/*.pdf")):
        copied = work / part.relative_to(folder)
        copied.parent.mkdir(exist_ok=True)
        shutil.copyfile(part, copied)
    options = ["-norc", "-pdf", "-interaction=nonstopmode", "-halt-on-error"]
    run = subprocess.run(
        [latexmk, *options, "-latexoption=-no-shell-escape", source.name],
        cwd=work,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=_SECONDS,
        check=False,
    )
    pdf = work / (source.stem + ".pdf")
    if run.returncode or not pdf.exists():
        return _complaint(run.stdout + run.stderr)
    return pdf.read_bytes()


def _complaint(output: str) -> str:
    """The first error in the output of LaTeX."""
    errors = [line for line in output.splitlines() if line.startswith("!")]
    lines = errors or [line for line in output.splitlines() if line.strip()] or ["nothing"]
    return repr(lines[0] if errors else lines[-1])
