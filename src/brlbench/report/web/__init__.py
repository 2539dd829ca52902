"""Common parts of the report's page and the leaderboard: data format, layout, style, scripts.

Pages hold all they need. Every text in a template is escaped; no text becomes a link unchecked.
"""

import base64
import hashlib
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from .packing import embedded_json

_SCRIPTS = "format draw data common table experiment scatter map learning".split()


def render(template: str, scripts: tuple[str, ...], content: Any, **values: Any) -> str:
    """A page from a template below `report/`, with data for its scripts and values for itself."""
    names = [*(f"web/{name}" for name in _SCRIPTS), *scripts]
    style = _source("web/web.css")
    script = "\n".join(_source(f"{name}.js") for name in names)
    shared = {"style": style, "script": script, "policy": _policy(style=style, script=script)}
    page = _environment().get_template(template)
    return page.render(shared, content=embedded_json(content), **values)


@cache
def _environment() -> Environment:
    environment = Environment(
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        loader=PackageLoader("brlbench", "report"),
    )
    environment.globals.update(version=version("brlbench"))
    return environment


def _policy(**sources: str) -> str:
    """The content security policy that allows these, pictures in the page, and no more."""
    allowed = [f"{kind}-src '{_hash(text)}'" for kind, text in sources.items()]
    return "; ".join(["default-src 'none'", "img-src data:", "base-uri 'none'", *allowed])


@cache
def _source(name: str) -> str:
    """The text of a file below `report/`."""
    return files("brlbench.report").joinpath(*name.split("/")).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """The hash by which a policy allows a text."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
