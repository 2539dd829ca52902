"""Pages that hold all they need: their style, their script and their data."""

import base64
import hashlib
import json
from collections.abc import Iterable
from importlib.resources import files
from typing import Any, NamedTuple


class Assets(NamedTuple):
    """The style and the script of a page."""

    style: str
    script: str

    @property
    def policy(self) -> str:
        """The content security policy that allows these, pictures in the page, and no more."""
        allowed = (f"{kind}-src '{_hash(text)}'" for kind, text in self._asdict().items())
        return "; ".join(["default-src 'none'", "img-src data:", "base-uri 'none'", *allowed])


def assets(styles: Iterable[str], scripts: Iterable[str]) -> Assets:
    """Files below `report/`, joined: those with styles, and those with scripts."""
    return Assets(*("\n".join(map(source, names)) for names in (styles, scripts)))


def source(name: str) -> str:
    """The text of a file below `report/`."""
    return files(__package__).joinpath(*name.split("/")).read_text(encoding="utf-8")


def embedded_json(content: Any) -> str:
    """Data as JSON that can stand in a page: no text in it can end a script."""
    return json.dumps(content, allow_nan=False).replace("<", "\\u003c")


def _hash(text: str) -> str:
    """The hash by which a policy allows a text."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
