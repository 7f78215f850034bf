"""Row 5: a LangGraph node over a state of about 20 KB. Arguments: port, steps, "documents", "plain", "messages", "growing" or "none", and "saver" for InMemorySaver.

It runs the graph once for each byte from the port, and answers with a line: nanoseconds of processor time, of all threads and with what they do
just behind it. The saver has a thread of its own, and a recording is written behind the step.
"""

import socket
import sys
import time
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages

# Seconds in which the app writes the rest of a turn, which counts, and the adapter, whose time is its own, stores it before the next program's turn.
REST = 0.04

port, steps, shape = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
saver = InMemorySaver() if "saver" in sys.argv[4:] else None


class State(TypedDict):
    count: int
    data: Any


class Conversation(TypedDict):
    count: int
    data: Annotated[list, add_messages]


def node(state: State) -> dict:  # BP: node
    if shape == "growing":
        return {"count": state["count"] + 1, "data": [AIMessage("answer " * 60)]}
    return {"count": state["count"] + 1}


def again(state: State) -> str:
    return END if state["count"] >= steps else "node"


def payload() -> Any:
    if shape == "messages":
        pairs = [(HumanMessage("question " * 50), AIMessage("answer " * 60)) for _ in range(10)]
        return [message for pair in pairs for message in pair]
    if shape == "none":
        return None
    if shape == "growing":
        return [HumanMessage("question " * 50)]
    if shape == "documents":
        text = "some words of a document " * 18
        return {f"doc{i}": {"id": i, "title": f"title {i}", "text": text, "score": i / 7} for i in range(40)}
    return {f"key{i}": {"name": f"entry {i}", "values": list(range(20)), "text": "x" * 60} for i in range(100)}


builder = StateGraph(Conversation if shape == "growing" else State)
builder.add_node("node", node)
builder.add_edge(START, "node")
builder.add_conditional_edges("node", again)
graph = builder.compile(checkpointer=saver)


def once(thread: int) -> None:
    config = {"recursion_limit": steps + 10, "configurable": {"thread_id": str(thread)}}
    graph.invoke({"count": 0, "data": payload()}, config)


with socket.create_connection(("127.0.0.1", port)) as turns:
    thread = 0
    while turns.recv(1):
        before = time.process_time_ns()
        once(thread)
        time.sleep(REST)
        turns.sendall(b"%d\n" % (time.process_time_ns() - before))
        thread += 1
