"""The formats of the Structural Tag language, as frozen pydantic models.

A format says what an output may look like; `type` tells the formats apart.  Names and fields are
those of xgrammar's structural tags, so documents move between the two.  Models validate their own
fields only: `structag.tags.parse` reads documents and words the errors, `structag.tags.check`
looks at how formats fit together, `structag.tags.lower` gives them their meaning.

The description of each field states what it expects; errors quote it.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated, Any, Literal, TypeAlias, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    StrictStr,
    field_serializer,
    model_validator,
)

_INT_DIGITS = 4000  # Python itself refuses to spell longer ones
MAX_COUNT = 2**31 - 1


Text: TypeAlias = Annotated[StrictStr, Field(min_length=1)]
Texts: TypeAlias = Annotated[Sequence[Text], AfterValidator(tuple)]
Strings: TypeAlias = Annotated[Sequence[StrictStr], Field(min_length=1), AfterValidator(tuple)]
Count: TypeAlias = Annotated[StrictInt, Field(ge=0, le=MAX_COUNT)]
TokenRef: TypeAlias = Count | Text
"""A token by its id, or by its content."""
TokenRefs: TypeAlias = Annotated[Sequence[TokenRef], AfterValidator(tuple)]
Formats: TypeAlias = Annotated[Sequence["Format"], AfterValidator(tuple)]
Tags: TypeAlias = Annotated[Sequence["TagFormat"], AfterValidator(tuple)]
ArgumentStyle: TypeAlias = Literal[
    "json", "qwen_xml", "minimax_xml", "minimax_m3_xml", "deepseek_xml", "deepseek_v4_1_xml",
    "glm_xml", "cohere_xml", "kimi_k3_xml", "step3_xml", "gemma",
    "functiongemma", "pythonic", "pythonic_json",
]  # fmt: skip
GrammarSyntax: TypeAlias = Literal["ebnf", "gbnf", "lark"]
Marker: TypeAlias = "StrictStr | TokenFormat"
Ends: TypeAlias = Annotated[Sequence[Marker], Field(min_length=1), AfterValidator(tuple)]
TextRules: TypeAlias = Annotated[Sequence[tuple[Text, "Format"]], AfterValidator(tuple)]
TokenRules: TypeAlias = Annotated[Sequence[tuple[TokenRef, "Format"]], AfterValidator(tuple)]


STYLES: tuple[str, ...] = get_args(ArgumentStyle)
SYNTAXES: tuple[str, ...] = get_args(GrammarSyntax)


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ConstStringFormat(_Model):
    """Exactly one text."""

    type: Literal["const_string"] = "const_string"
    value: StrictStr = Field(description="a string")


class RegexFormat(_Model):
    """A text that a regular expression (ECMA-262) matches from end to end."""

    type: Literal["regex"] = "regex"
    pattern: StrictStr = Field(description="a regular expression as a string")
    excludes: Texts = Field(default=(), description="a list of non-empty strings")


class GrammarFormat(_Model):
    """A text that a grammar derives; `syntax` says how the grammar is written."""

    type: Literal["grammar"] = "grammar"
    grammar: StrictStr = Field(description="a grammar as a string")
    syntax: GrammarSyntax = Field(default="ebnf", description="`ebnf`, `gbnf` or `lark`")


class ElementStyleModel(_Model):
    """An argument style of the document's own: one element for each argument.

    The fields are those of `structag.schema.styles.element_style.ElementStyle`.
    """

    before: Text = Field(description="a non-empty string")
    after: Texts = Field(min_length=1, description="a non-empty list of non-empty strings")
    closer: Text = Field(description="a non-empty string")
    behind: Strings = Field(default=("", "\n"), description="a non-empty list of strings")
    types: dict[StrictStr, StrictStr] | None = Field(
        default=None, description="an object of strings"
    )
    stop: Text | None = Field(default=None, description="a non-empty string, or null")
    not_in_names: StrictStr = Field(default='<>"', description="a string")
    entities: dict[StrictStr, StrictStr] = Field(default={}, description="an object of strings")
    is_wrapped: StrictBool = Field(default=False, description="true or false")
    nothing: Strings = Field(default=("",), description="a non-empty list of strings")
    item: Text | None = Field(default=None, description="a non-empty string, or null")
    item_closer: StrictStr = Field(default="", description="a string")


class JSONSchemaFormat(_Model):
    """A value that a JSON Schema accepts, written in an argument style.

    `style` ``"json"`` is plain JSON; the others write the members of an object as the arguments
    of a call, in the ways that models are trained to (`structag.schema.arguments`), or in one that
    is described on the spot.
    `any_order`: object members may come in any order.  `max_whitespace_cnt`: the most whitespace
    characters in one gap of the JSON text; the usual bound if None.
    """

    type: Literal["json_schema"] = "json_schema"
    json_schema: StrictBool | dict[str, Any] = Field(description="a JSON Schema: object or boolean")
    style: ArgumentStyle | ElementStyleModel = Field(
        default="json",
        description="the name of an argument style, or an object with the texts of one",
    )
    any_order: StrictBool = Field(default=False, description="true or false")
    max_whitespace_cnt: Count | None = Field(default=None, description="an integer from 0, or null")

    @field_serializer("json_schema", when_used="json")
    def _exact_numbers(self, schema: Any) -> Any:
        return _plain_numbers(schema)


class AnyTextFormat(_Model):
    """Any text in which none of `excludes` occurs.

    Directly before the end of a tag the text stops at the tag's end; at the end of the document
    it may go on for ever.  `max_tokens` and `max_chars` bound it, and a bounded text may stand
    anywhere.
    """

    type: Literal["any_text"] = "any_text"
    excludes: Texts = Field(default=(), description="a list of non-empty strings")
    max_tokens: Count | None = Field(
        default=None, description="an integer from 0 to 2^31 - 1, or null"
    )
    max_chars: Count | None = Field(
        default=None, description="an integer from 0 to 2^31 - 1, or null"
    )


class TokenFormat(_Model):
    """Exactly one token, by id or by content."""

    type: Literal["token"] = "token"
    token: TokenRef = Field(description="a token id, or the content of a token as a string")


class ExcludeTokenFormat(_Model):
    """Exactly one token: none of `exclude_tokens`, no end that may follow, no stop token."""

    type: Literal["exclude_token"] = "exclude_token"
    exclude_tokens: TokenRefs = Field(default=(), description="a list of token ids or contents")


class AnyTokensFormat(_Model):
    """Any tokens but `exclude_tokens`; control tokens too, stop tokens never.

    It ends as `AnyTextFormat` does.
    """

    type: Literal["any_tokens"] = "any_tokens"
    exclude_tokens: TokenRefs = Field(default=(), description="a list of token ids or contents")
    max_tokens: Count | None = Field(
        default=None, description="an integer from 0 to 2^31 - 1, or null"
    )


class SequenceFormat(_Model):
    """The elements one after the other."""

    type: Literal["sequence"] = "sequence"
    elements: Formats = Field(min_length=1, description="a non-empty list of formats")


class OrFormat(_Model):
    """Any one of the elements."""

    type: Literal["or"] = "or"
    elements: Formats = Field(min_length=1, description="a non-empty list of formats")


class OptionalFormat(_Model):
    """The content or nothing."""

    type: Literal["optional"] = "optional"
    content: Format = Field(description="a format")


class PlusFormat(_Model):
    """The content once or more."""

    type: Literal["plus"] = "plus"
    content: Format = Field(description="a format")


class StarFormat(_Model):
    """The content any number of times."""

    type: Literal["star"] = "star"
    content: Format = Field(description="a format")


class RepeatFormat(_Model):
    """The content from `min` to `max` times; a `max` of -1 is no bound."""

    type: Literal["repeat"] = "repeat"
    content: Format = Field(description="a format")
    min: StrictInt = Field(ge=0, le=MAX_COUNT, description="an integer from 0 to 2^31 - 1")
    max: StrictInt = Field(
        ge=-1,
        le=MAX_COUNT,
        description="an integer from `min` to 2^31 - 1, or -1 for no bound",
    )

    @model_validator(mode="after")
    def _check_order(self) -> RepeatFormat:
        if 0 <= self.max < self.min:
            raise ValueError("`max` is less than `min`")
        return self


class TagFormat(_Model):
    """`begin`, the content, then `end` (any one of them, if a list).

    A begin or end is a text or a token.  An empty end means that the tag is over when its content
    is.
    """

    type: Literal["tag"] = "tag"
    begin: Marker = Field(description="a string or a format of type `token`")
    content: Format = Field(description="a format")
    end: Marker | Ends = Field(
        description="a string, a format of type `token`, or a non-empty list of these"
    )

    @property
    def ends(self) -> tuple[Marker, ...]:
        """The ends as a tuple, also if there is only one."""
        return (self.end,) if isinstance(self.end, str | TokenFormat) else tuple(self.end)


class TriggeredTagsFormat(_Model):
    """Free text; where a trigger appears, the tag it begins.

    `at_least_one`: the output starts with a tag.  `stop_after_first`: nothing follows the first
    tag.  The text between tags contains none of `excludes`.
    """

    type: Literal["triggered_tags"] = "triggered_tags"
    triggers: Texts = Field(min_length=1, description="a non-empty list of non-empty strings")
    tags: Tags = Field(min_length=1, description="a non-empty list of formats of type `tag`")
    excludes: Texts = Field(default=(), description="a list of non-empty strings")
    at_least_one: StrictBool = Field(default=False, description="true or false")
    stop_after_first: StrictBool = Field(default=False, description="true or false")


class TagsWithSeparatorFormat(_Model):
    """Tags and nothing else, `separator` between two of them.

    `at_least_one`: not none.  `stop_after_first`: not more than one.
    """

    type: Literal["tags_with_separator"] = "tags_with_separator"
    tags: Tags = Field(min_length=1, description="a non-empty list of formats of type `tag`")
    separator: StrictStr = Field(description="a string")
    at_least_one: StrictBool = Field(default=False, description="true or false")
    stop_after_first: StrictBool = Field(default=False, description="true or false")


class DispatchFormat(_Model):
    """Free text; where a pattern appears, the format that belongs to it follows.

    `rules` are pairs of pattern and format.  `loop`: free text comes again after that, and so on;
    otherwise nothing does.  The free text contains none of `excludes`.
    """

    type: Literal["dispatch"] = "dispatch"
    rules: TextRules = Field(
        min_length=1, description="a non-empty list of pairs [non-empty string, format]"
    )
    loop: StrictBool = Field(default=True, description="true or false")
    excludes: Texts = Field(default=(), description="a list of non-empty strings")


class TokenTriggeredTagsFormat(_Model):
    """Any tokens; where a trigger token appears, one of the tags that begin with it.

    `at_least_one`: the output starts with a tag.  `stop_after_first`: nothing follows the first
    tag.  The tokens between tags are none of `exclude_tokens`.
    """

    type: Literal["token_triggered_tags"] = "token_triggered_tags"
    trigger_tokens: TokenRefs = Field(
        min_length=1, description="a non-empty list of token ids or contents"
    )
    tags: Tags = Field(min_length=1, description="a non-empty list of formats of type `tag`")
    exclude_tokens: TokenRefs = Field(default=(), description="a list of token ids or contents")
    at_least_one: StrictBool = Field(default=False, description="true or false")
    stop_after_first: StrictBool = Field(default=False, description="true or false")


class TokenDispatchFormat(_Model):
    """Any tokens; where a token of `rules` appears, the format that belongs to it follows.

    `rules` are pairs of token and format.  `loop`: any tokens come again after that, and so on;
    otherwise nothing does.
    """

    type: Literal["token_dispatch"] = "token_dispatch"
    rules: TokenRules = Field(
        min_length=1, description="a non-empty list of pairs [token id or content, format]"
    )
    loop: StrictBool = Field(default=True, description="true or false")
    exclude_tokens: TokenRefs = Field(default=(), description="a list of token ids or contents")


Format: TypeAlias = Annotated[
    ConstStringFormat
    | RegexFormat
    | GrammarFormat
    | JSONSchemaFormat
    | AnyTextFormat
    | SequenceFormat
    | OrFormat
    | OptionalFormat
    | PlusFormat
    | StarFormat
    | RepeatFormat
    | TagFormat
    | TriggeredTagsFormat
    | TagsWithSeparatorFormat
    | DispatchFormat
    | TokenFormat
    | ExcludeTokenFormat
    | AnyTokensFormat
    | TokenTriggeredTagsFormat
    | TokenDispatchFormat,
    Field(discriminator="type"),
]

FORMATS: dict[str, type[_Model]] = {
    str(model.model_fields["type"].default): model
    for model in (
        ConstStringFormat,
        RegexFormat,
        GrammarFormat,
        JSONSchemaFormat,
        AnyTextFormat,
        SequenceFormat,
        OrFormat,
        OptionalFormat,
        PlusFormat,
        StarFormat,
        RepeatFormat,
        TagFormat,
        TriggeredTagsFormat,
        TagsWithSeparatorFormat,
        DispatchFormat,
        TokenFormat,
        ExcludeTokenFormat,
        AnyTokensFormat,
        TokenTriggeredTagsFormat,
        TokenDispatchFormat,
    )
}
"""Every format by its `type`."""


class StructuralTag(_Model):
    """A whole document: ``{"type": "structural_tag", "format": …}``.

    `marker_tokens` are texts that are single tokens of the model, such as ``<tool_call>``.  Where
    one of them occurs in a marker and the vocabulary has that token, only the token will do; where
    the vocabulary has not, the text stands in for it.
    """

    type: Literal["structural_tag"] = "structural_tag"
    format: Format = Field(description="a format")
    marker_tokens: Texts = Field(default=(), description="a list of non-empty strings")


def _plain_numbers(value: Any) -> Any:
    """`value` with each `Decimal` as the nearest number that JSON writers know."""
    if isinstance(value, dict):
        return dict(zip(value, map(_plain_numbers, value.values()), strict=True))
    if isinstance(value, list | tuple):
        return list(map(_plain_numbers, value))
    if isinstance(value, Decimal):
        is_short = value.adjusted() < _INT_DIGITS
        return int(value) if is_short and value == value.to_integral_value() else float(value)
    return value


for _name in FORMATS:
    FORMATS[_name].model_rebuild()
StructuralTag.model_rebuild()
