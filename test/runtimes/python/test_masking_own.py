"""Names and patterns that the person gave for what is to be masked."""

from __future__ import annotations

from typing import Any

import pytest
from fake_adapter import RECORD
from toolbreak._masking import Masking
from toolbreak._values import Settings

pytestmark = pytest.mark.essential

MARK = (..., "masked")


def test_own_names_and_patterns() -> None:
    settings = Settings.from_record({"maskKeys": ["patient*"], "maskPatterns": [r"C-\d+", "("]})
    for text in (
        '{"patient_name": "Ann Lee"}',
        "patient=Lee, n=1",
        "--patient-id Lee",
        "['--patient', 'Lee']",
        '{\\"patient\\": \\"Ann Lee\\"}',
        "patient: b'Lee'",
    ):
        assert "Lee" not in repr(settings.encode({"note": text, "data": text.encode(), "error": ValueError(text)})), (
            text
        )
    assert settings.encode("an impatient: yes, patients; --patient -v") == "an impatient: yes, patients; --patient -v"
    encoded = settings.encode({"Patient_name": "Ann", "note": "case C-17", "x": ["C-1"]})
    assert encoded["Patient_name"][:2] == MARK and encoded["note"] == "case ***" and encoded["x"] == ["***"]
    assert len(settings.masking.problems) == 1


def test_what_cannot_be_masked_is_not_recorded(scene: Any) -> None:
    scene.write("main.py", "def pay(note):\n    return note\n\nprint(pay('ssn 123'))\n")
    record = {**RECORD, "enabled": True, "functions": ["@usercode"], "maskPatterns": [r"ssn (\d+"]}
    adapter = scene.adapter(record=record)
    app = scene.run(adapter, "main.py")
    _, said = adapter.event("log")
    assert said["category"] == "important"
    assert said["text"].startswith("The mask pattern 'ssn (\\\\d+' does not compile: ")
    assert said["text"].endswith(" So nothing is recorded of this process.")
    assert app.finish() == (0, "ssn 123\n", "")
    assert list(scene.folder.rglob("*.spool")) == []


def test_a_pattern_that_nothing_fits_too_hides_what_something_fits() -> None:
    assert Masking(patterns=["x*", "\\b"]).text("a xx b") == "a *** b"


@pytest.mark.parametrize("text", ["iban: Bob7", "iban=b'Bob7'", "IBAN: BR7", "{'iban': b\"Bob7\"}", "iban: b7"])
def test_nothing_of_a_value_under_an_own_name_is_told(text: str) -> None:
    masked = Masking(["iban"]).text(text)
    assert (
        "***" in masked and "o" not in masked.lower().replace("iban", "") and "7" not in masked and "BR" not in masked
    )
