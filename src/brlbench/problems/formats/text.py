"""Plain data as the text of TOML and JSON files, with a line per line of numbers."""

import json
from collections.abc import Iterator
from typing import Any


def as_toml(values: dict[str, Any]) -> str:
    """A TOML file; lists of tables come last."""
    is_table = {key: bool(value) and _is_tables(value) for key, value in values.items()}
    rows = {key: value for key, value in values.items() if not is_table[key]}
    lines = [f"{key} = {_text(value)}\n" for key, value in _dotted(rows)]
    for key, value in values.items():
        if is_table[key]:
            lines += [f"\n[[{key}]]\n{as_toml(table)}" for table in value]
    return "".join(lines)


def as_json(values: dict[str, Any]) -> str:
    """A JSON object."""
    parts = (
        f'"{key}": [{", ".join(map(as_json, value))}]'
        if _is_tables(value)
        else f'"{key}": {_text(value)}'
        for key, value in values.items()
    )
    return "{\n" + ",\n".join(parts) + "\n}"


def _dotted(values: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """All keys with their values; those of a table come after its name and a dot."""
    for key, value in values.items():
        if isinstance(value, dict):
            yield from ((f"{key}.{inner}", number) for inner, number in value.items())
        else:
            yield key, value


def _is_tables(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, dict) for each in value) and value != []


def _text(value: Any) -> str:
    """TOML and JSON write numbers, lists and texts alike, except for one character."""
    if isinstance(value, list) and value and all(isinstance(line, list) for line in value):
        return "[" + ",".join(f"\n  {line}" for line in value) + "\n]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
