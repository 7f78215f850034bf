"""Masking takes as long as a text is. What takes longer takes so on every Python: one of them is enough."""

import pytest
from toolbreak._masking import Masking


@pytest.mark.parametrize("beginning", ["pk_", "rk-", "-eyJaaaaaaaa", "a:aaa", "?sig", "; ", "--a-"])
def test_text_made_of_beginnings_is_looked_through_once(beginning: str) -> None:
    """With an unbounded look ahead this would take hours: the test would not end."""
    text = beginning * (1_000_000 // len(beginning))
    assert Masking().text(text) == text
