"""Options are checked when they are made."""

from __future__ import annotations

from typing import Any

import pytest

from structag.schema.options import SchemaOptions


@pytest.mark.parametrize(
    "wrong",
    [
        {"property_order": "random"},
        {"formats": "maybe"},
        {"max_whitespace": -1},
        {"separators": (",", "")},
        {"separators": (";", ":")},
        {"separators": (",",)},
        {"indent": -1},
        {"indent": True},
        {"indent": "--"},
        {"indent": 1.5},
        {"indent": []},
        {"max_whitespace": "x"},
        {"max_whitespace": 1.5},
        {"max_whitespace": True},
        {"max_whitespace": 10**12},
        {"separators": 1},
        {"separators": (1, 2)},
        {"integer_decimals": "no"},
        {"closed_objects": "false"},
        {"openapi": []},
        {"registry": "x"},
    ],
)
def test_a_wrong_option_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="expected"):
        SchemaOptions(**wrong)


def test_an_unknown_option_is_refused() -> None:
    with pytest.raises(TypeError):
        SchemaOptions(colour=2)  # type: ignore[call-arg]
