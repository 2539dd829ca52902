"""Programs that some tests need, by the mark of those tests."""

import os
import shutil
from importlib.util import find_spec

import pytest

from helpers import slurm_cluster

NEEDED = {
    "browser": ("chromium", "chromedriver"),
    "latex": ("latexmk",),
    "slurm": slurm_cluster.DAEMONS,
}
REMEDIES = {
    "browser": "apt-get install chromium chromium-driver",
    "latex": "apt-get install latexmk lmodern texlive-latex-recommended",
    "slurm": "apt-get install munge slurm-wlm, and be root",
    "dask": "pip install 'brlbench[cluster]'",
}


def require(mark: str) -> None:
    """Skip the running test where what its mark names is missing; let it fail in CI."""
    if _is_there(mark):
        return
    message = f"needs {mark}: {REMEDIES[mark]}"
    if os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message)


def _is_there(mark: str) -> bool:
    if mark == "dask":
        return find_spec("distributed") is not None
    if mark == "slurm" and (os.geteuid() != 0 or find_spec("dask_jobqueue") is None):
        return False
    path = f"{os.environ['PATH']}:/usr/sbin:/sbin"
    return all(shutil.which(program, path=path) for program in NEEDED[mark])
