"""What a folder of spool files says of calls, so that two recordings of the same app can be held beside each other."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

from spool_reader import END, EVENT, FUNCTION, START, STATE, TASK, read_folder

#: LangGraph's own ids are new in each run, as are the addresses in texts of objects.
CHANGING = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|0x[0-9a-f]+")


def recorded(folder: Path, beside: Collection[str] = ()) -> list[str]:
    """
    Each call: whose it is, what it was given and answered, and the states around it. Sorted, since threads come in any order. `beside`: names of calls
    whose task is chance.
    """
    calls: dict[Any, list[Any]] = {}
    above: dict[Any, Any] = {}
    names: dict[Any, str] = {}
    for file, frames in read_folder(folder).items():
        process = file.rpartition("-")[0]
        for frame in frames:
            if frame[0] in (FUNCTION, TASK):
                names[process, frame[0], frame[1]] = f"{frame[3] if frame[0] == FUNCTION else frame[2]}"
            elif frame[0] == START:
                name = names[process, FUNCTION, frame[3]]
                task = "" if name in beside else names[process, TASK, frame[4]]
                told = [name, task, *frame[6:]]
                calls[process, frame[1]] = told
                above[process, frame[1]] = (process, frame[2])
    for file, frames in read_folder(folder).items():
        process = file.rpartition("-")[0]
        for frame in frames:
            if frame[0] == END:
                calls[process, frame[1]] += ["end", *frame[3:]]
            elif frame[0] == STATE:
                calls[process, frame[1]] += [frame[3], frame[4]]
            elif frame[0] == EVENT and frame[3]:
                calls[process, frame[3]] += [frame[2], frame[4]]
    numbers = {number for _, number in calls}
    found = []
    for key, told in calls.items():
        chain = []
        while above[key][1] in numbers:
            key = above[key]
            if key not in calls:
                break
            chain.append(calls[key][0])
        found.append(CHANGING.sub("#", repr((chain, told))))
    return sorted(found)
