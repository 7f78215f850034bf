"""The LangGraph fixture under the whole runtime, with a debugger's side that answers."""

from __future__ import annotations

from typing import Any

import pytest
from fake_adapter import dot, named
from frameworks_support import TRIAGE, bare

pytestmark = [pytest.mark.essential, pytest.mark.frameworks]


def names(hold: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [(frame["kind"], frame["name"], frame["detail"]) for frame in hold["frames"] if frame["kind"] != "source"]


def scope(process: Any, hold: dict[str, Any], name: str, frame: int = 0) -> list[dict[str, Any]]:
    found = process.request("scopes", hold=hold["id"], frame=hold["frames"][frame]["id"])["scopes"]
    ref = next(each["ref"] for each in found if each["name"] == name)
    return process.request("variables", hold=hold["id"], ref=ref)["variables"]


@pytest.mark.parametrize("way", [[], ["--async"]], ids=["sync", "async"])
@pytest.mark.parametrize("line", ["def lookup_order", "@tool  # BP: lookup_order"], ids=["def", "decorator"])
def test_a_dot_on_a_tool_stops_its_call_once(scene: Any, line: str, way: list[str]) -> None:
    adapter = scene.adapter(breakpoints=[dot(1, TRIAGE, line)])
    app = scene.run(adapter, TRIAGE, *way)
    process, hold = adapter.held()
    assert names(hold) == [
        ("tool", "lookup_order(order_id=7, region='eu')", "tool, before"),
        ("node", "tools", "node, step 2"),
        ("workflow", "support_agent", "workflow, call 1"),
    ]
    found = process.request("scopes", hold=hold["id"], frame=hold["frames"][0]["id"])["scopes"]
    ref = next(each["ref"] for each in found if each["name"] == "Arguments")
    refused = process.ask("setVariable", hold=hold["id"], ref=ref, name="order_id", value='"abc"', client="test")
    assert not refused["ok"] and "order_id must be an integer" in refused["error"]["message"]
    process.request("setVariable", hold=hold["id"], ref=ref, name="order_id", value="70", client="test")
    process.release(hold)
    code, out, err = app.finish()
    assert (code, out.splitlines()[-1]) == (0, "verdict: approved, refunded 90"), err


def test_state_and_frames_inside_the_subgraph(scene: Any) -> None:
    adapter = scene.adapter(breakpoints=[dot(1, TRIAGE, "def grade", boundaries=["after"])])
    app = scene.run(adapter, TRIAGE)
    process, hold = adapter.held()
    assert names(hold) == [
        ("node", "grade", "node, step 2, after"),
        ("workflow", "review", "workflow, step 8"),
        ("workflow", "support_agent", "workflow, call 1"),
    ]
    state = {each["name"]: each["value"] for each in scope(process, hold, "State")}
    assert state["verdict"] == "'approved, refunded 500'"
    process.release(hold)
    assert app.finish()[0] == 0


def test_a_step_into_one_of_the_parallel_calls(scene: Any) -> None:
    adapter = scene.adapter(breakpoints=[named(1, "tools", "node", hitCondition="1")])
    app = scene.run(adapter, TRIAGE)
    process, hold = adapter.held()
    targets = process.request("stepTargets", hold=hold["id"])["targets"]
    stock = next(each["id"] for each in targets if each["label"].startswith("check_stock"))
    process.release(hold, step="in", target=stock)
    process, hold = adapter.held(lambda each: each["reason"] == "step")
    assert hold["frames"][0]["name"] == "check_stock(item='lamp')"
    process.release(hold)
    assert app.finish()[0] == 0


def test_sources_and_names(scene: Any) -> None:
    adapter = scene.adapter(breakpoints=[named(1, "refund", "tool", hitCondition="1")])
    app = scene.run(adapter, TRIAGE)
    process, hold = adapter.held()
    sources = {each["name"]: each["id"] for each in process.request("sources")["sources"]}
    assert {"Tool refund.json", "Workflow support_agent.mmd", "Prompt of scripted-1.md"} <= set(sources)
    assert "please refund order 7" in process.request("source", id=sources["Prompt of scripted-1.md"])["text"]
    assert '"amount"' in process.request("source", id=sources["Tool refund.json"])["text"]
    assert "agent" in process.request("source", id=sources["Workflow support_agent.mmd"])["text"]
    known = {(each["kind"], each["name"]) for each in process.request("names")["names"]}
    assert {("tool", "refund"), ("node", "grade"), ("workflow", "review"), ("llm", "scripted-1")} <= known
    process.release(hold)
    assert app.finish()[0] == 0


@pytest.mark.parametrize("way", [[], ["--async", "--stream"], ["--fanout"], ["--prebuilt"]], ids=" ".join)
def test_outcome_under_the_whole_runtime(scene: Any, way: list[str]) -> None:
    app = scene.run(scene.adapter(), TRIAGE, *way, env={"PYTHONWARNINGS": "ignore"})
    without = bare(TRIAGE, *way)
    assert app.finish() == (without.code, without.out, without.err)
