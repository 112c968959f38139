"""Settings of the test run: Hypothesis profiles, markers, and where large test data lies.

Environment:
    STRUCTAG_DATA: folder with large third-party test data; tests that need it skip without.
    STRUCTAG_EXAMPLES: Hypothesis examples for each property, where a test does not say itself.
    STRUCTAG_SANITIZED: set when the core runs under sanitizers; time limits are skipped then.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

# Shared machines are slow now and then; a property is about values, never about time.
settings.register_profile(
    "structag",
    deadline=None,
    max_examples=int(os.environ.get("STRUCTAG_EXAMPLES", "100")),
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)
settings.load_profile("structag")

# Hypothesis also draws constants of the modules that happen to be imported.  With several workers
# that differs from run to run, so a seed would not lead to the same examples.
providers._get_local_constants = Constants

UNLIKE_UNDER_SANITIZERS = {
    "timing": "times mean nothing under sanitizers",
    "forks": "the locks of a sanitizer's allocator that other threads hold stay held in a child",
}
"""Marker -> why such tests are skipped there."""


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: takes over ten seconds; left out under sanitizers")
    config.addinivalue_line("markers", "timing: asserts a time; skipped under sanitizers")
    config.addinivalue_line("markers", "forks: forks beside threads; skipped under sanitizers")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # Properties take longest: at the end of the run they would leave other workers idle.
    items.sort(key=lambda item: not hasattr(getattr(item, "obj", None), "hypothesis"))
    for item in items:
        if " at 0x" in item.nodeid:  # parallel workers have to agree about the names of tests
            raise pytest.UsageError(f"{item.nodeid}: an address in the name of a test; pass `ids`")
    if "STRUCTAG_SANITIZED" not in os.environ:
        return
    for item in items:
        for marker, reason in UNLIKE_UNDER_SANITIZERS.items():
            if item.get_closest_marker(marker) is not None:
                item.add_marker(pytest.mark.skip(reason=reason))
