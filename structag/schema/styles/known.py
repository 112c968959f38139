"""The element styles by name.  Each entry names its source.

Markers that are one token of the model are written as text: the vocabulary knows which they are.
"""

from __future__ import annotations

from collections.abc import Mapping

from structag.schema.styles.element_style import KINDS, ElementStyle


def _marks(template: str, **words: str) -> dict[str, str]:
    """`template` for each JSON type, with its word; ``others`` is the word of the rest."""
    return {kind: template.format(words.get(kind, words.get("others", kind))) for kind in KINDS}


def _deepseek(space: str) -> ElementStyle:
    return ElementStyle(
        before=f'<｜DSML｜{space}parameter name="',
        after=('"',),
        types=_marks(' string="{}">', string="true", others="false"),
        closer=f"</｜DSML｜{space}parameter>",
        behind=("\n",),
        not_in_names='"',
        nothing=("", "\n"),
    )


ELEMENT_STYLES: Mapping[str, ElementStyle] = {
    # Chat templates of Qwen3-Coder and Qwen3.5 and later.
    "qwen_xml": ElementStyle(
        before="<parameter=",
        after=(">",),
        closer="</parameter>",
        is_wrapped=True,
    ),
    # MiniMax-M2's guide to tool calls.
    "minimax_xml": ElementStyle(
        before='<parameter name="',
        after=('">',),
        closer="</parameter>",
    ),
    # The encoding scripts published with DeepSeek V3.2 and V4; V4.1 has a space more.
    "deepseek_xml": _deepseek(""),
    "deepseek_v4_1_xml": _deepseek(" "),
    # Chat templates of GLM-4.5, with line breaks, and GLM-4.7, without.
    "glm_xml": ElementStyle(
        before="<arg_key>",
        after=("</arg_key><arg_value>", "</arg_key>\n<arg_value>"),
        closer="</arg_value>",
    ),
    # Chat template of Kimi K3.
    "kimi_k3_xml": ElementStyle(
        before='<|open|>argument key="',
        after=('"',),
        types=_marks(' type="{}"<|sep|>'),
        closer="<|close|>argument<|sep|>",
        stop="<|close|>",
        behind=("",),
        not_in_names="",
        entities={"&": "&amp;", '"': "&quot;"},
    ),
}
