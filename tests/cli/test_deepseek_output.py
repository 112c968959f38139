"""The demo takes its own outputs apart correctly."""

from __future__ import annotations

import pytest

deepseek_output = pytest.importorskip("structag.cli.deepseek_output")

OUTPUT = (
    "Hm.</think>Two.<｜DSML｜tool_calls>\n"
    '<｜DSML｜invoke name="a">\n'
    '<｜DSML｜parameter name="x" string="true">1 </｜DSML｜invoke>\n</｜DSML｜parameter>\n'
    '<｜DSML｜parameter name="y" string="false">2</｜DSML｜parameter>\n'
    "</｜DSML｜invoke>\n"
    '<｜DSML｜invoke name="b">\n</｜DSML｜invoke>\n'
    "</｜DSML｜tool_calls>"
)


def test_calls_and_arguments() -> None:
    assert deepseek_output.read_calls(OUTPUT) == [
        ("a", {"x": "1 </｜DSML｜invoke>\n", "y": 2}),
        ("b", {}),
    ]


@pytest.mark.parametrize("output", [OUTPUT, "</think>", "a</think>b", "never closed", ""])
def test_segments_are_the_output(output: str) -> None:
    assert "".join(text for _, text in deepseek_output.read_segments(output)) == output


def test_segments_know_what_they_are() -> None:
    kinds = {text: kind for kind, text in deepseek_output.read_segments(OUTPUT)}

    assert [kinds[text] for text in ("Hm.", "Two.", "a", "x", "2", "</｜DSML｜tool_calls>")] == [
        "reasoning",
        "text",
        "tool",
        "name",
        "value",
        "marker",
    ]
