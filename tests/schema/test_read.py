"""A schema may come as text, as a Python value or as a model."""

from __future__ import annotations

from typing import Any

import pydantic
import pytest

from structag.errors import StructagError
from structag.schema.read import read_schema


class Point(pydantic.BaseModel):
    x: int


@pytest.mark.parametrize(
    "source",
    ['{"type": "integer"}', b'{"type": "integer"}', bytearray(b'{"type": "integer"}'),
     {"type": "integer"}, pydantic.TypeAdapter(int)],
)  # fmt: skip
def test_every_kind_of_source(source: Any) -> None:
    assert read_schema(source) == {"type": "integer"}


def test_models_and_booleans() -> None:
    model = read_schema(Point)
    assert isinstance(model, dict)
    assert model["required"] == ["x"]
    assert read_schema("true") is True


@pytest.mark.parametrize(
    ("source", "code"), [("[1]", "schema-value"), (5, "source-kind"), ("{", "json-syntax")]
)
def test_refusals(source: Any, code: str) -> None:
    with pytest.raises(StructagError) as caught:
        read_schema(source)

    assert caught.value.code == code
