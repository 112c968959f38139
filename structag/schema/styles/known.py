"""The element styles by name.  Each entry names its source.

Markers that are one token of the model are written as text: the vocabulary knows which they are.
"""

from __future__ import annotations

from collections.abc import Mapping

from structag.schema.styles.element_style import KINDS, NAME, ElementStyle

_M3 = "]<]minimax[>["


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
    # MiniMax-M3, after its parsers in serving engines: one marker before every tag, the elements
    # named after the arguments, arrays and objects as elements inside.
    "minimax_m3_xml": ElementStyle(
        before=f"{_M3}<",
        after=(">",),
        closer=f"{_M3}</{NAME}>",
        stop=_M3,
        behind=("",),
        not_in_names="<>/",
        item=f"{_M3}<item>",
        item_closer=f"{_M3}</item>",
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
    # Cohere's library melody, which renders and parses the nested XML of newer Command models.
    # A reader may take a closer with a blank before its bracket, so that is no text either.
    "cohere_xml": ElementStyle(
        before='<cofl:value name="',
        after=('"',),
        types=_marks(' type="{}">', string="raw", array="list", object="dict", others="json"),
        closer="</cofl:value>",
        stop="</cofl:value",
        not_in_names="",
        entities={"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"},
        item="<cofl:value",
        item_closer="</cofl:value>",
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
    # Step-3, after its parsers in serving engines.
    "step3_xml": ElementStyle(
        before='<steptml:parameter name="',
        after=('">',),
        closer="</steptml:parameter>",
    ),
}
