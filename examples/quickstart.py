"""The shortest way from a structural tag to masked logits.

python examples/quickstart.py
"""

from __future__ import annotations

import numpy as np

import structag

TAG = {
    "type": "structural_tag",
    "format": {
        "type": "triggered_tags",
        "triggers": ["<call>"],
        "tags": [
            {
                "type": "tag",
                "begin": "<call>",
                "content": {
                    "type": "json_schema",
                    "json_schema": {
                        "type": "object",
                        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
                        "required": ["city", "days"],
                        "additionalProperties": False,
                    },
                },
                "end": "</call>",
            }
        ],
    },
}

vocabulary = structag.Vocabulary.byte_level()
grammar = structag.Compiler(vocabulary).compile_structural_tag(TAG)

matcher = structag.Matcher(grammar)
assert matcher.accept_string('Let me look. <call>{"city":"Oslo","days":')

# One step of generation: fill the mask, apply it, choose.
bitmask = structag.allocate_token_bitmask(1, vocabulary.size)
matcher.fill_next_token_bitmask(bitmask)
logits = np.random.default_rng(0).normal(size=(1, vocabulary.size)).astype(np.float32)
logits[0, ord("7")] = 9  # what the model would like
structag.apply_token_bitmask_inplace(logits, bitmask)
token = int(logits[0].argmax())
assert matcher.accept_token(token)
print("allowed:", " ".join(vocabulary.token_name(int(t)) for t in np.flatnonzero(logits[0] > -99)))
print("chosen:", vocabulary.token_name(token))

# The rest of the output, and the end.
assert matcher.accept_string("}</call> Done.")
assert matcher.is_completed()
assert matcher.accept_token(vocabulary.stop_token_ids[0])
print("ended:", matcher.is_terminated())
