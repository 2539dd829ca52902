"""What pages in Markdown share: their templates, and lists in sentences."""

from collections.abc import Callable, Iterable
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template


def template(name: str, **filters: Callable[..., object]) -> Template:
    """A template of this folder."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(filters)
    return environment.get_template(name)


def listed(words: Iterable[str]) -> str:
    """Words with commas, and with "and" before the last."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
