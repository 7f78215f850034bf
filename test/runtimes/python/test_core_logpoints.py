"""What a logpoint says is shown in full, and recorded without the secrets it shows."""

from __future__ import annotations

from typing import Any

import pytest
from fake_adapter import RECORD, dot
from spool_reader import EVENT, all_frames

pytestmark = pytest.mark.essential


def test_a_logpoint_is_recorded_without_secrets(scene: Any) -> None:
    path = scene.write(
        "main.py",
        """
        class Client:
            def __init__(self, api_key):
                self.api_key = api_key

            def __repr__(self):
                return f"Client with {self.api_key}"

        def work(password, client, row, tokens):
            return tokens

        work("two words", Client("first-key"), {"name": "DB_PASSWORD", "value": "third one"}, 120)
        """,
    )
    adapter = scene.adapter(
        breakpoints=[
            dot(1, path, "def work", logMessage="{password} {client} {row} {tokens} {'so: ' + password} {len(row)}")
        ],
        record={**RECORD, "enabled": True},
    )
    scene.run(adapter, "main.py").finish()
    shown = [event["text"] for _, event in adapter.events if event["event"] == "log"]
    assert shown == [
        "two words Client with first-key {'name': 'DB_PASSWORD', 'value': 'third one'} 120 so: two words 2"
    ]
    recorded = [
        frame[4]["text"] for frame in all_frames(adapter.folder / "spool") if frame[0] == EVENT and frame[2] == "log"
    ]
    assert recorded == ["*** Client with *** {'name': 'DB_PASSWORD', 'value': ***} 120 *** 2"]


def test_a_secret_is_found_in_whatever_holds_it(scene: Any) -> None:
    path = scene.write(
        "main.py",
        """
        import collections

        class Notes(dict):
            pass

        class Key:
            def __repr__(self):
                return "key"

        def row(secret):
            return {"password": secret}

        def work(queue, keyed, notes, password):
            return 1

        notes = Notes(row("in notes"))
        notes.about = 1
        itself = collections.deque(["in itself"])
        itself.append(itself)
        itself.append({"more": itself})
        work(collections.deque([row("in a queue")]), {Key(): 1, **row("by a key")}, notes, itself)
        """,
    )
    said = "{list(queue[0].values())} {list(keyed.values())} {list(notes.values())} {list(password)[:1]}"
    adapter = scene.adapter(breakpoints=[dot(1, path, "def work", logMessage=said)], record={**RECORD, "enabled": True})
    scene.run(adapter, "main.py").finish()
    recorded = [
        frame[4]["text"] for frame in all_frames(adapter.folder / "spool") if frame[0] == EVENT and frame[2] == "log"
    ]
    assert recorded == ["['***'] [1, '***'] ['***'] ***"]
