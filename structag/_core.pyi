"""The native core, as `core/bindings*.cc` exports it."""

from typing import Any

# apply (core/bindings_apply.cc)

def apply_token_bitmask(
    logits: Any, bitmask: Any, rows: list[int] | None
) -> tuple[str, str] | None: ...
