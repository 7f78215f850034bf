"""The short way of a node's call, which compiled code goes: as exact as the long one."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fake_adapter import RECORD, dot
from recorded_calls import recorded
from spool_reader import END, START, read_folder
from toolbreak import _optional

HERE = Path(__file__).resolve().parent
pytestmark = [pytest.mark.essential, pytest.mark.frameworks]

#: Of nodes that run beside each other it is chance which one meets another and gets a task of its own.
BESIDE = {"leaf", "a", "b"}


def record(folder: Path, compiled: str) -> tuple[list[int], list[str]]:
    folder.mkdir()
    environment = {**os.environ, "TOOLBREAK_COMPILED": compiled, "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, str(HERE / "node_steps_app.py"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "toolbreak" not in done.stderr, done.stderr
    (spool,) = {path.parent for path in folder.rglob("*.spool")}
    return json.loads(done.stdout.splitlines()[-1]), recorded(spool, BESIDE)


@pytest.mark.skipif(_optional.begin_node is None, reason="the compiled part is not built")
def test_what_is_recorded_is_what_the_long_way_records(tmp_path: Path) -> None:
    none, expected = record(tmp_path / "long", "0")
    taken, found = record(tmp_path / "short", "")
    assert none == [0, 0, 0]
    begun, finished, routed = taken
    assert begun > 600 and finished > 500 and routed > 400, taken
    assert len(expected) > 800
    assert [line for line in found if line not in expected] == []
    assert found == expected


OUTER = """
    from typing import Any, TypedDict
    from langgraph.graph import END, START, StateGraph

    class State(TypedDict):
        count: int
        data: Any

    def look(count):
        return count + 1  # Inner.

    def work(state):
        state["data"].append(state["count"])
        return {"count": look(state["count"])}

    builder = StateGraph(State)
    builder.add_node("work", work)
    builder.add_edge(START, "work")
    builder.add_conditional_edges("work", lambda state: END if state["count"] > 5 else "work")
    print(builder.compile(name="rounds").invoke({"count": 0, "data": ["words " * 100]}))

    from toolbreak import _optional
    print("taken", *(_optional.nodes_taken() if _optional.nodes_taken is not None else [0, 0, 0]))
"""


def variables(process: Any, hold: dict[str, Any], frame: int, scope: str) -> dict[str, str]:
    scopes = process.request("scopes", hold=hold["id"], frame=hold["frames"][frame]["id"])["scopes"]
    ref = next(each["ref"] for each in scopes if each["name"] == scope)
    found = process.request("variables", hold=hold["id"], ref=ref)["variables"]
    return {each["name"]: each["value"] for each in found}


def run_outer(scene: Any, is_recorded: bool) -> tuple[Any, Any]:
    """Held in a function that the fourth step calls."""
    app = scene.write("main.py", OUTER)
    adapter = scene.adapter(
        breakpoints=[dot(1, app, "def look", condition="count == 3")],
        record={**RECORD, "enabled": is_recorded, "references": True},
    )
    return adapter, scene.run(adapter, app)


@pytest.mark.parametrize("is_recorded", [True, False])
def test_a_node_that_began_the_short_way_can_be_looked_at_stepped_to_and_edited(scene: Any, is_recorded: bool) -> None:
    adapter, run = run_outer(scene, is_recorded)
    process, hold = adapter.held()
    shown = [(frame["kind"], frame["name"], frame["detail"]) for frame in hold["frames"] if frame["kind"] != "source"]
    assert shown == [
        ("function", "look(count=3)", "function, before"),
        ("node", "work", "node, step 4"),
        ("workflow", "rounds", "workflow, call 1"),
    ]
    node = next(index for index, frame in enumerate(hold["frames"]) if frame["kind"] == "node")
    state = variables(process, hold, node, "State")
    assert state["count"] == "3" and "data" in state
    process.release(hold, step="out")
    process, hold = adapter.held(lambda each: each["boundary"] == "after")
    assert hold["frames"][0]["kind"] == "node" and variables(process, hold, 0, "State")["count"] == "4"
    scopes = process.request("scopes", hold=hold["id"], frame=hold["frames"][0]["id"])["scopes"]
    changes = next(each for each in scopes if each["name"] == "Changes")
    told = {
        each["name"]: each["value"]
        for each in process.request("variables", hold=hold["id"], ref=changes["ref"])["variables"]
    }
    assert any("count" in name for name in told) and any("data" in name for name in told), told
    state_ref = next(each["ref"] for each in scopes if each["name"] == "State")
    process.request("setVariable", hold=hold["id"], ref=state_ref, name="count", value="100", client="test")
    process.release(hold)
    code, out, err = run.finish()
    assert code == 0 and "'count': 100" in out and "', 0, 1, 2, 3]" in out, (out, err)
    begun = int(out.split("taken ")[1].split()[0])
    assert begun >= 2 or _optional.begin_node is None


@pytest.mark.parametrize("is_recorded", [True, False])
def test_a_step_stops_before_the_next_node(scene: Any, is_recorded: bool) -> None:
    adapter, run = run_outer(scene, is_recorded)
    process, hold = adapter.held()
    for _ in range(10):
        process.release(hold, step="over")
        process, hold = adapter.held()
        if hold["boundary"] == "before":
            break
    node = hold["frames"][0]
    assert (node["kind"], node["name"], node["detail"]) == ("node", "work", "node, step 5, before")
    process.release(hold)
    code, out, err = run.finish()
    assert code == 0 and "'count': 6" in out, (out, err)


def changes(choose: random.Random, value: dict[str, Any], holder: Any) -> None:
    """One change of a dict, or none, in one of the ways there are."""
    way = choose.randrange(12)
    key = choose.choice("abcdefgh")
    if way == 0:
        value[key] = object()
    elif way == 1:
        value.pop(key, None)
    elif way == 2:
        value |= {key: object()}
    elif way == 3:
        value.update({key: object()})
    elif way == 4:
        value.setdefault(key, object())
    elif way == 5 and value:
        value.popitem()
    elif way == 6:
        value.clear()
    elif way == 7:
        setattr(holder, key, object())
    elif way == 8:
        vars(holder).pop(key, None)
    elif way == 9:
        json.loads('{"a": 1}', object_pairs_hook=value.update)
    elif way == 10:
        value.get(key)
    else:
        list(value.items())


class Holder:
    def __init__(self) -> None:
        self.a: Any = 1

    def hot(self, value: Any) -> None:
        self.a = value  # Many times, so that the interpreter goes its own short way.


@pytest.mark.skipif(_optional.Snapshot is None, reason="the compiled part is not built")
@pytest.mark.parametrize("seed", range(20))
def test_no_change_of_a_dict_is_missed(seed: int) -> None:
    choose = random.Random(seed)
    holder = Holder()
    for value in ({"a": 1}, vars(holder), {}, {5: 6, "b": 7}):
        for _ in range(300):
            snapshot = _optional.Snapshot([value, [value]], [])
            before = list(value.items())
            changes(choose, value, holder)
            after = list(value.items())
            unchanged = len(before) == len(after) and all(a is c and b is d for (a, b), (c, d) in zip(before, after))
            assert snapshot.same() is unchanged
            assert snapshot.same() is unchanged  # And what it learnt by that is true.


@pytest.mark.skipif(_optional.Snapshot is None, reason="the compiled part is not built")
def test_an_attribute_that_is_set_again_and_again_is_seen() -> None:
    holder = Holder()
    fields = vars(holder)
    for number in range(3000):
        snapshot = _optional.Snapshot([fields], [])
        assert snapshot.same()
        holder.hot(object())
        assert not snapshot.same(), number


@pytest.mark.skipif(_optional.begin_node is None, reason="the compiled part is not built")
def test_parts_that_are_not_in_the_state_any_more_are_forgotten(scene: Any) -> None:
    app = scene.write(
        "main.py",
        """
        import gc, sys
        from typing import Any, TypedDict
        import toolbreak
        from toolbreak import _calls
        from toolbreak._values import Settings
        toolbreak.record(sys.argv[1])
        _calls.writer.configure(Settings(references=True))
        from langgraph.graph import END, START, StateGraph

        class State(TypedDict):
            count: int
            data: Any

        def data():
            return {f"doc{i}": {"text": "words " * 50} for i in range(10)}

        def work(state):
            memo = _calls.writer._states._memo
            most.append((len(memo.parts), memo._held, sum(part.held() for part in memo.parts.values())))
            return {"count": state["count"] + 1, **({"data": data()} if state["count"] % 20 == 19 else {})}

        most = []
        builder = StateGraph(State)
        builder.add_node("work", work)
        builder.add_edge(START, "work")
        builder.add_conditional_edges("work", lambda state: END if state["count"] >= 600 else "work")
        builder.compile().invoke({"count": 0, "data": data()}, {"recursion_limit": 1000})
        print(max(parts for parts, _, _ in most) < 8, all(held == real for _, held, real in most))
        """,
    )
    done = run_alone(app, str(scene.folder))
    assert done.stdout.splitlines()[-1:] == ["True True"], done.stderr


#: As in `test_review_signals`, around the steps of a node: a handler raises at one after the other of the places where the interpreter may run it.
STRUCK = """
    import asyncio, functools, sys
    import toolbreak
    from toolbreak import _call_types, _calls
    toolbreak.record(sys.argv[1])
    from toolbreak._values import Settings
    _calls.writer.configure(Settings(references=True))
    from langgraph.channels.binop import BinaryOperatorAggregate
    from langgraph.channels.last_value import LastValue
    from strikes import Strikes
    from toolbreak._frameworks import _node_call, _node_step

    compiled, unrecorded, *ways = sys.argv[2:]
    if unrecorded:
        _calls.writer = None

    class Runs:
        def invoke(self, state, config, **kwargs):
            if way == "fails":
                raise ValueError("it fails") from None  # The errors that struck before may be its context, and would be recorded with it.
            return {"merged" if way == "is merged" else "count": state["count"] + 1}

        async def ainvoke(self, state, config, **kwargs):
            return self.invoke(state, config)

        async def astream(self, state, config, **kwargs):
            yield self.invoke(state, config)

    async def drained(pieces):
        async for _ in pieces:
            pass

    function = _calls.function("workflow", "flow")
    read = functools.partial(print, None, {"count": LastValue(int), "data": LastValue(object), "merged": BinaryOperatorAggregate(int, max)})
    config = {"configurable": {"__pregel_read": read, "__pregel_task_id": "task"}, "metadata": {"langgraph_step": 1}}
    state = {"count": 1, "data": ["words " * 100]}

    def run():
        try:
            if way == "is awaited":
                asyncio.run(step.ainvoke(state, config))
            elif way == "streams":
                asyncio.run(drained(step.astream(state, config)))
            else:
                step.invoke(state, config)
        except ValueError:
            assert way == "fails"

    for way in ways:
        step = _node_step.NodeStep([Runs()], "node")
        outer = _calls.begin(function, {})
        for _ in range(4):
            run()
        assert (type(_node_call.newest["task"]) is _call_types.StepCall) is (compiled == "" and way != "streams")
        strikes = Strikes(run)
        place = 1
        while (came := strikes.strike(place)) is not None:
            bad = [_calls.current() is not outer, outer.busy, outer.task.calls != 1, outer.task.innermost is not outer, _calls.writer is not None and _calls.writer.local.segment.busy]
            if any(bad) or not came:
                print(strikes.where, "came" if came else "LOST", bad)
                sys.exit(1)
            place += 1
        run()
        _calls.end(outer, 0)
        print("places", way, place, sep=":")
"""


def run_alone(app: Path, *args: str, compiled: str = "") -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(HERE.parents[2] / "runtimes" / "python"), str(HERE)])
    environment = {**os.environ, "PYTHONPATH": path, "TOOLBREAK_COMPILED": compiled, "PYTHONWARNINGS": "ignore"}
    return subprocess.run(
        [sys.executable, str(app), *args], capture_output=True, text=True, env=environment, timeout=120
    )


@pytest.mark.parametrize("unrecorded", ["", "unrecorded"])
@pytest.mark.parametrize("compiled", ["", "0"])
def test_wherever_a_handler_raises_around_a_node_nothing_is_left_behind(
    scene: Any, compiled: str, unrecorded: str
) -> None:
    if _optional.begin_node is None and not compiled:
        pytest.skip("the compiled part is not built")
    app = scene.write("main.py", STRUCK)
    ways = ["answers", "is merged", "fails", "is awaited", "streams"]
    done = run_alone(app, str(scene.folder / "recorded"), compiled, unrecorded, *ways, compiled=compiled)
    assert done.returncode == 0, (done.stdout, done.stderr)
    places = dict(line.split(":")[1:] for line in done.stdout.splitlines())
    # Where compiled code does all of it, there is no such place.
    none = [] if compiled else ["answers", "is merged"] if unrecorded else ["answers"]
    assert [way for way in ways if int(places[way]) == 1] == none
    assert all(int(places[way]) > 3 for way in ways if way not in none), places
    if not unrecorded:
        every_start_has_its_end(scene.folder / "recorded")


def test_wherever_a_handler_raises_while_a_file_is_made_nothing_is_left_behind(scene: Any) -> None:
    """A file that was begun is closed with nothing in it, or goes on; only one that was just opened is empty."""
    small = (
        "import toolbreak\n    from toolbreak import _spool\n    _spool.FIRST_SEGMENT = _spool.LARGEST_SEGMENT = 12288"
    )
    large = STRUCK.replace("import toolbreak", small, 1).replace('"words " * 100', '"words " * 3000')
    done = run_alone(scene.write("main.py", large), str(scene.folder / "0"), "0", "", "answers", compiled="0")
    assert done.returncode == 0, (done.stdout, done.stderr)
    sizes = {path.stat().st_size for path in (scene.folder / "0").rglob("*.spool")}
    assert 12 in sizes and min(sizes - {0, 12}) >= 12288
    every_start_has_its_end(scene.folder / "0")


def every_start_has_its_end(folder: Path) -> None:
    files = read_folder(next(folder.rglob("*.spool")).parent).values()
    started = [frame[1] for frames in files for frame in frames if frame[0] == START]
    ended = [frame[1] for frames in files for frame in frames if frame[0] == END]
    assert len(started) == len(set(started)) and sorted(started) == sorted(ended)


LOOKS = """
    import copy
    import functools
    import json
    import sys
    import toolbreak

    toolbreak.record(sys.argv[1])
    from toolbreak import _calls, _optional
    from toolbreak._values import Settings

    _calls.writer.configure(Settings(references=True))
    if sys.argv[2:] == ["unrecorded"]:
        _calls.writer = None
    import langgraph.graph
    from langgraph.channels.last_value import LastValue
    from toolbreak._frameworks import _node_step
    from toolbreak._frameworks._node_call import newest

    class Runs:
        def invoke(self, state, config, **kwargs):
            call = _calls.current()
            assert call.state_before == expected, (call.state_before, expected)
            assert call.state_before["data"] is not state["data"] and call.state_before["items"] is not state["items"]
            if count % 5 == 1:
                assert call.attributes == {"langgraph.task.id": "task", "langgraph.step": count}, call.attributes
            if count % 5 == 2:
                call.set(**{"more": count})
            if count % 5 == 3:
                state["data"][f"new {count}"] = {"text": "words " * 100}
                state["items"].append(count)
            if count % 5 == 4:
                state["data"]["first"]["text"] += "more"
            return {"count": count}

    step = _node_step.NodeStep([Runs()], "node")
    outer = _calls.begin(_calls.function("workflow", "flow"), {})
    read = functools.partial(print, None, {"count": LastValue(int), "data": LastValue(object), "items": LastValue(object)})
    state = {"count": 0, "data": {"first": {"text": "words " * 100}}, "items": ["words " * 100]}
    for count in range(1, 60):
        config = {"configurable": {"__pregel_read": read, "__pregel_task_id": "task"}, "metadata": {"langgraph_step": count}}
        # As `_state.copy_of` has it: the first level is copied.
        expected = {"count": state["count"], "data": dict(state["data"]), "items": list(state["items"])}
        state |= step.invoke(state, config)
        call = newest["task"]
        assert call.ended and call.state is None and call.state_before is None and _calls.current() is outer and not outer.busy
    assert outer.task.calls == 1 and outer.task.innermost is outer
    _calls.end(outer, 0)
    print(json.dumps(_optional.nodes_taken() if _optional.nodes_taken is not None else [0, 0, 0]))
"""


@pytest.mark.parametrize("compiled", ["", "0"])
def test_what_a_node_is_asked_while_it_runs_is_of_its_begin(scene: Any, compiled: str) -> None:
    """The copy for the difference, and the attributes, which compiled code makes no dict of."""
    if _optional.begin_node is None and not compiled:
        pytest.skip("the compiled part is not built")
    app = scene.write("main.py", LOOKS)
    done = run_alone(app, str(scene.folder), compiled=compiled)
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert json.loads(done.stdout)[0] > 20 or compiled
    files = read_folder(next(scene.folder.rglob("*.spool")).parent).values()
    started = [frame[7] for frames in files for frame in frames if frame[0] == START and frame[7]]
    assert started == [{"langgraph.task.id": "task", "langgraph.step": count} for count in range(1, 60)]
    ended = [frame[5] for frames in files for frame in frames if frame[0] == END and frame[5]]
    assert [each["more"] for each in ended] == list(range(2, 60, 5))
    # Where nothing is recorded the same is there to be looked at.
    folder = scene.folder / "nothing"
    done = run_alone(app, str(folder), "unrecorded", compiled=compiled)
    assert done.returncode == 0, (done.stdout, done.stderr)
    begun, finished, _ = json.loads(done.stdout)
    assert (begun > 40 and finished > 40) or compiled
    spools = [frames for path in folder.rglob("*.spool") for frames in read_folder(path.parent).values()]
    assert not any(frame[0] == START for frames in spools for frame in frames)


def test_keys_with_code_of_the_app_are_left_to_python_code(scene: Any) -> None:
    app = scene.write(
        "main.py",
        """
        import sys
        from typing import TypedDict
        import toolbreak
        from toolbreak import _calls
        toolbreak.record(sys.argv[1])
        from toolbreak._values import Settings
        _calls.writer.configure(Settings(references=True))
        from langgraph.graph import END, START, StateGraph
        from langgraph.types import Send

        class State(TypedDict):
            n: int

        class Odd:
            def __init__(self, name):
                self.name = name
                self.count = 0

            def __hash__(self):
                self.count += self.count >= 0 and armed
                return hash(self.name) + self.count * wild

            def __eq__(self, other):
                if armed:
                    answer.clear()
                return False

        answer = {}
        armed = wild = 0

        def node(state):
            global answer, armed
            n = state.get("n", 0)
            armed = any(type(key) is Odd for key in state)
            answer = {"".join(["k"] * 20): 5, "n": n + 1} if armed else {"n": n + 1}
            return answer

        def again(state):
            global armed, wild
            armed = 0
            wild = state["n"] % 2
            n = state["n"]
            if n < 5:
                return "node"
            odd = {Odd("k" * 20): ["list"], Odd("data"): 2, **{f"key{i}": [i] for i in range(62)}}
            return [Send("node", {"n": n, **odd})] if n < 20 else END

        builder = StateGraph(State)
        builder.add_node("node", node)
        builder.add_edge(START, "node")
        builder.add_conditional_edges("node", again)
        try:
            builder.compile().invoke({"n": 0}, {"recursion_limit": 60})
        except Exception as error:
            print(type(error).__name__)
        print("done")
        """,
    )
    done = run_alone(app, str(scene.folder))
    assert done.returncode == 0 and done.stdout.endswith("done\n"), done.stderr


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the process's mappings from /proc")
def test_a_thread_that_ended_keeps_no_file(scene: Any) -> None:
    app = scene.write(
        "main.py",
        """
        import sys, threading
        from typing import TypedDict
        import toolbreak
        from toolbreak import _calls
        from toolbreak._values import Settings
        from langgraph.graph import END, START, StateGraph

        class State(TypedDict):
            n: int

        builder = StateGraph(State)
        builder.add_node("node", lambda state: {"n": state["n"] + 1})
        builder.add_edge(START, "node")
        builder.add_conditional_edges("node", lambda state: END if state["n"] > 5 else "node")
        graph = builder.compile()
        toolbreak.record(sys.argv[1])
        counts = []
        for _ in range(5):
            _calls.writer.configure(Settings(references=True))
            gate = threading.Barrier(8)

            def work():
                graph.invoke({"n": 0})
                gate.wait()

            threads = [threading.Thread(target=work) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            with open("/proc/self/maps") as maps:
                counts.append(sum(".spool" in line for line in maps))
            writer = _calls.writer
            _calls.writer = type(writer)(writer.folder, f"next{len(counts)}", Settings(references=True))
            del writer
        print(counts, counts[4] <= counts[2])
        """,
    )
    done = run_alone(app, str(scene.folder))
    assert done.stdout.endswith("True\n"), (done.stdout, done.stderr)
