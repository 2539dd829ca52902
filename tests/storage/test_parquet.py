"""The check of Parquet files, against files that Polars writes."""

import io
from typing import Any

import polars as pl
import pytest

from brlbench import memory
from brlbench.errors import InvalidInput
from brlbench.storage.parquet import check_sizes


def packed(columns: dict[str, Any], **options: Any) -> bytes:
    buffer = io.BytesIO()
    pl.DataFrame(columns).write_parquet(buffer, **options)
    return buffer.getvalue()


@pytest.mark.parametrize("compression", ["uncompressed", "zstd", "snappy", "lz4", "gzip"])
@pytest.mark.parametrize("rows", [1, 5, 3000])
def test_numbers_of_rows_and_values(compression: str, rows: int) -> None:
    columns = {
        "number": range(rows),
        "text": [f"text {i}" for i in range(rows)],
        "array": pl.Series([[0.1, 0.2, 0.3]] * rows, dtype=pl.Array(pl.Float64, 3)),
        "nothing": [None] * rows,
    }
    data = packed(columns, compression=compression, row_group_size=1000, data_page_size=500)
    assert check_sizes(data) == (rows, [rows, rows, 3 * rows, rows])


def test_every_changed_size_is_noticed() -> None:
    """Each byte of each number in the footer and the page is changed: no sizes are invented."""
    data = packed({"number": [1, 2, 3]}, compression="uncompressed", statistics=False)
    for place in range(len(data)):
        for bit in range(8):
            changed = bytearray(data)
            changed[place] ^= 1 << bit
            try:
                rows, values = check_sizes(bytes(changed))
            except (AttributeError, LookupError, TypeError, ValueError):
                continue
            assert (rows, values) == (3, [3])


def test_what_a_file_expands_to(monkeypatch: pytest.MonkeyPatch) -> None:
    data = packed({"number": pl.zeros(100_000, pl.Int64, eager=True)})
    assert len(data) < 2000
    check_sizes(data)
    monkeypatch.setattr(memory, "_machine_bytes", lambda: 2_000_000)
    with pytest.raises(InvalidInput, match="what it expands to, 100000 rows, would need"):
        check_sizes(data)
