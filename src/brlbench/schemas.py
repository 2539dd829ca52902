"""Tables of files, checked by pydantic: their fields are annotated with kinds of `values`."""

from functools import cache
from typing import Any, ClassVar, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from .errors import InvalidInput, did_you_mean, short

Table = TypeVar("Table")
_adapter: Any = cache(TypeAdapter)


class Schema(BaseModel):
    """A table; keys without a field are ignored. Kinds of values allow no conversions."""

    model_config = ConfigDict(frozen=True)


class StrictSchema(Schema):
    """A table that people write: unknown keys are refused."""

    model_config = ConfigDict(extra="forbid")
    _otherwise: ClassVar[str] = ""  # where a key may belong that is like none of the table's

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, content: Any) -> Any:
        for key in content if isinstance(content, dict) else ():
            if key not in cls.model_fields:
                hint, known = did_you_mean(key, cls.model_fields), ", ".join(cls.model_fields)
                other = "" if hint else cls._otherwise.format(key=key)
                raise ValueError(f"unknown key {key!r}{hint}: must be one of {known}{other}")
        return content


def parse_table(table: type[Table], content: Any) -> Table:
    """Content as a dataclass, NamedTuple or model; a ValueError of pydantic unless it fits."""
    parsed: Table = _adapter(table).validate_python(content)
    return parsed


def fits(table: Any) -> AfterValidator:
    """Annotates content that must fit a table, but stays plain data."""

    def check(content: Any) -> Any:
        parse_table(table, content)
        return content

    return AfterValidator(check)


def parse_written(table: type[Table], content: Any, source: str) -> Table:
    """The same for a file that a person wrote: InvalidInput names file, key, value and remedy."""
    try:
        return parse_table(table, content)
    except ValidationError as error:
        raise InvalidInput(f"{source}: {sentence(error)}") from None


def sentence(error: ValidationError) -> str:
    """The first place that does not fit, and what must be there."""
    first = error.errors()[0]
    place = place_of(first["loc"])
    message = first["msg"].removeprefix("Value error, ")
    if first["type"] == "missing":
        return f"{place} is missing: add it"
    if message.startswith("unknown key"):
        return f"{place or 'the file'} has an {message}"
    if first["type"] in ("list_type", "too_short") and place in ("experiments", "agents"):
        return f"{place} must be written as [[{place}]], once for each"
    if first["type"] in ("model_type", "dict_type"):
        return f"{place} must be a table with values, as in [{place}]"
    if first["type"] in ("list_type", "tuple_type"):
        message = "must be a list"
    if first["type"] == "too_short":
        return f"{place} = []: give it at least one value"
    if isinstance(first["input"], dict):
        return f"{place} {message}"
    return f"{place} = {short(first['input'])}: {message[0].lower()}{message[1:]}"


def place_of(location: tuple[int | str, ...]) -> str:
    """A place in a file, as in agents[2].limits.memory; entries are counted from 1."""
    parts = [f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in location]
    return "".join(parts).removeprefix(".")
