"""What providers and engines accept of JSON Schema, as data.

Providers change what they accept: a profile says what its source said, and structag itself enforces
the whole standard.  `structag.providers.lint` compares a schema with a profile,
`structag.providers.fix` rewrites it to what the profile accepts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from structag.providers.patterns import BACKREFERENCE, BOUNDARY, COUNT, LOOKAROUND, PROPERTY

ERROR, WARNING = "error", "warning"
_FORMATS = ("date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid")


class Profile(NamedTuple):
    """What one provider or engine accepts.

    Attributes:
        title: its name in messages.
        source: where that is said.
        refused: keyword -> why it is an error.
        ignored: keyword -> why it is a warning.
        formats: the values of ``format``; None: any.
        patterns: a feature of regular expressions -> what a pattern with it is (``error`` or
            ``warning``), and why; see `structag.providers.patterns`.
        closed: every object has to say ``"additionalProperties": false``.
        all_required: every property has to be required.
        object_root: the root has to be an object, and no union.
        recursive: ``anywhere``, ``optional`` = through properties that may be left out only, or
            ``nowhere``: where a schema may refer to itself.
        references: what is wrong beside ``$ref``: ``""`` = nothing, ``any`` keyword (an error), or
            what ``asserts`` something (a warning: it is not enforced).
        merged: ``allOf`` may hold no ``$ref``.
        least_items: the values of ``minItems``; None: any.
        enums: the JSON types of values in an enum, and what another one is; None: any.
        long_enum: an enum of more strings than the first number may hold so many characters.
        most: names of counts -> limits for one schema; see `structag.providers.lint`.
        most_together: the same for all schemas of a request.
        most_tools: how many tools a request may have whose arguments have a schema.
    """

    title: str
    source: str
    refused: Mapping[str, str]
    ignored: Mapping[str, str] = {}
    formats: tuple[str, ...] | None = None
    patterns: Mapping[str, tuple[str, str]] = {}
    closed: bool = False
    all_required: bool = False
    object_root: bool = False
    recursive: str = "anywhere"
    references: str = ""
    merged: bool = False
    least_items: tuple[int, ...] | None = None
    enums: tuple[tuple[str, ...], str] | None = None
    long_enum: tuple[int, int] | None = None
    most: Mapping[str, int] = {}
    most_together: Mapping[str, int] = {}
    most_tools: int | None = None


_REFUSED = (ERROR, "it is refused")
_NO_AUTOMATON = dict.fromkeys((LOOKAROUND, BACKREFERENCE, BOUNDARY), _REFUSED)


def _all(names: str, reason: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), reason)


PROFILES = {
    "openai": Profile(
        "OpenAI's strict mode",
        # Structured model outputs, "Supported schemas": types, properties of each type, that all
        # fields are required and objects closed, limits of size, composition that is not there.
        "https://developers.openai.com/api/docs/guides/structured-outputs",
        _all(
            "allOf oneOf not if then else dependentRequired dependentSchemas dependencies",
            "composition other than `anyOf` is not supported",
        ),
        _all(
            "minLength maxLength patternProperties propertyNames minProperties maxProperties "
            "unevaluatedProperties unevaluatedItems prefixItems contains minContains maxContains "
            "uniqueItems additionalItems",
            "it is not among the supported keywords",
        ),
        _FORMATS,
        # Not in that document, but answered by the service: "Invalid JSON schema: regex lookaround
        # is not supported" and "$ref cannot have keywords {'description'}"
        # (https://github.com/vercel/ai/pull/21037, https://github.com/openai/openai-python/pull/1637).
        patterns={LOOKAROUND: _REFUSED},
        closed=True,
        all_required=True,
        object_root=True,
        references="any",
        # "Objects have limitations on nesting depth and size", "... on total string size", "... on
        # enum size".
        long_enum=(250, 15_000),
        most={"properties": 5000, "levels": 10, "characters": 120_000, "enum values": 1000},
    ),
    "anthropic": Profile(
        "Anthropic's structured outputs",
        # "JSON Schema limitations": constraints on numbers, texts and arrays are not there,
        # objects have to be closed, no recursion, enums of scalars, no `$ref` in `allOf`.
        "https://platform.claude.com/docs/en/build-with-claude/structured-outputs",
        _all(
            "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf",
            "constraints on numbers are not supported",
        )
        | _all("minLength maxLength", "constraints on lengths are not supported")
        | _all(
            "maxItems uniqueItems contains minContains maxContains prefixItems",
            "constraints on arrays other than `minItems` of 0 or 1 are not supported",
        )
        | _all(
            "oneOf not if then else dependentRequired dependentSchemas dependencies "
            "patternProperties propertyNames minProperties maxProperties unevaluatedProperties "
            "unevaluatedItems additionalItems $dynamicRef",
            "it is not among the supported keywords",
        ),
        formats=(*_FORMATS, "uri"),
        # "Pattern (regex) support": quantifiers, classes of `[]`, `.`, `\d`, `\w`, `\s`, groups;
        # not these, nor "complex {n,m} quantifiers with large ranges".
        patterns=_NO_AUTOMATON
        | {
            COUNT: (WARNING, "it may be refused as too complex"),
            PROPERTY: (WARNING, "it is not among the supported features"),
        },
        closed=True,
        recursive="nowhere",
        merged=True,
        least_items=(0, 1),
        enums=(("string", "number", "boolean", "null"), ERROR),
        # "Schema complexity limits", which hold for all strict schemas of a request together.
        most_together={"optional properties": 24, "unions": 16},
        most_tools=20,
    ),
    "gemini": Profile(
        "Gemini's response schemas",
        # GenerationConfig.responseJsonSchema: the fields that are read; others are ignored,
        # `oneOf` is read as `anyOf`, formats of strings are date-time, date and time, enums hold
        # strings and numbers; cyclic references in properties that are not required only; beside
        # `$ref` nothing but keywords that begin with `$`.
        "https://ai.google.dev/api/generate-content#generationconfig",
        {},
        _all(
            "const pattern minLength maxLength exclusiveMinimum exclusiveMaximum multipleOf "
            "uniqueItems contains minContains maxContains allOf not if then else "
            "patternProperties propertyNames minProperties maxProperties unevaluatedProperties "
            "unevaluatedItems additionalItems dependentRequired dependentSchemas dependencies "
            "$dynamicRef",
            "it is ignored",
        )
        | {"oneOf": "it is read as `anyOf`"},
        ("date-time", "date", "time"),
        recursive="optional",
        references="any",
        enums=(("string", "number"), WARNING),
    ),
    "xgrammar": Profile(
        "xgrammar 0.2.9",
        # What it accepts without enforcing it, or refuses, as measured with its 0.2.9 and one
        # schema for each keyword, one pattern for each feature; the first four also after vLLM's
        # check before compiling.
        "https://github.com/mlc-ai/xgrammar",
        {"additionalItems": "a list in `items` is refused"},
        _all(
            "uniqueItems contains minContains maxContains not if then else dependentRequired "
            "dependentSchemas dependencies $anchor $id $dynamicRef",
            "it is accepted, but not enforced",
        )
        | {
            "multipleOf": "it is enforced for integers only",
            "oneOf": "it is read as `anyOf`",
            "allOf": "of several schemas not all are enforced",
            "pattern": "it has to match the whole text, and lengths beside it are dropped",
            "patternProperties": "some texts that match are refused",
            "unevaluatedProperties": "some texts that match are refused",
        },
        (*_FORMATS, "uri", "uri-reference", "uri-template", "json-pointer",
         "relative-json-pointer"),
        patterns={**_NO_AUTOMATON, PROPERTY: _REFUSED},
        references="asserts",
    ),
    "llguidance": Profile(
        "llguidance 1.9.1",
        # docs/json_schema.md of its repository lists what it takes; everything else is refused.
        "https://github.com/guidance-ai/llguidance/blob/main/docs/json_schema.md",
        _all(
            "propertyNames dependentRequired dependentSchemas dependencies unevaluatedProperties "
            "unevaluatedItems uniqueItems contains minContains maxContains not if then else "
            "$dynamicRef",
            "it is refused",
        ),
        {
            "oneOf": "it is refused where branches may overlap",
            "allOf": "some intersections are refused",
            "minProperties": "it is refused beside optional properties",
        },
        (*_FORMATS, "uri"),
        patterns=_NO_AUTOMATON,
    ),
}  # fmt: skip
"""By the names that ``--profile`` takes."""
