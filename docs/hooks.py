"""The site beside its pages: lists of pages, a tutorial as a notebook, formulas; see mkdocs.yml.

`docs/generated.py` writes what pages say about the library.
"""

import json
import re
from html import unescape
from typing import Any

import latex2mathml.converter
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

import brlbench as bb

_NOTEBOOK = "tutorials/notebook.md"
_MAGICS = {"python": "", "bash": "%%bash\n"}  # first lines of a notebook's cells
# The text before a block; the block's language, its file and its code, all empty at the end.
_CELL = r'(.*?)(?:^```(\w+)(?: title="([^"]*)")?\n(.*?)^```$|\Z)'
# latex2mathml takes these for names, which have no space around them.
_RELATIONS = {
    "<mi>&#x0007E;</mi>": "<mo>&#x0223C;</mo>",
    "<mi>&#x000B1;</mi>": "<mo>&#x000B1;</mo>",
}


def on_config(config: MkDocsConfig) -> None:
    """List a page for each algorithm and each problem."""
    for section in config.nav or []:
        for title, names in (("Algorithms", bb.AGENTS), ("Problems", bb.PROBLEMS)):
            if title in section:
                section[title] += [{name: f"{title.lower()}/{name}.md"} for name in names]


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Make a notebook of a tutorial."""
    page = files.get_file_from_path(_NOTEBOOK)
    assert page is not None
    made = notebook(page.content_string)
    files.append(File.generated(config, _NOTEBOOK.replace(".md", ".ipynb"), content=made))


def notebook(page: str) -> str:
    """A page as a Jupyter notebook: its code in cells, with magics for files and for Bash."""
    cells: list[dict[str, Any]] = []
    for text, language, title, code in re.findall(_CELL, page, re.DOTALL | re.MULTILINE):
        if text.strip():
            cells.append({"cell_type": "markdown", "source": text.strip()})
        if title or language in _MAGICS:
            magic = f"%%writefile {title}\n" if title else _MAGICS[language]
            cells.append({"cell_type": "code", "source": magic + code.rstrip(), "outputs": []})
    for number, cell in enumerate(cells):
        cell |= {"id": str(number), "metadata": {}}
        if cell["cell_type"] == "code":
            cell["execution_count"] = None
    content = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(content, indent=1, ensure_ascii=False)


def on_page_content(html: str, **_: Any) -> str:
    """Turn TeX into MathML, which browsers show without any script."""
    return re.sub(
        r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', _mathml, html, flags=re.DOTALL
    )


def _mathml(found: re.Match[str]) -> str:
    display = "inline" if found[2] == "(" else "block"
    made = latex2mathml.converter.convert(unescape(found[3]), display=display)
    for wrong, right in _RELATIONS.items():
        made = made.replace(wrong, right)
    return made if display == "inline" else f'<div class="formula">{made}</div>'
