import assert from 'node:assert/strict';
import { marker } from './e2e-support';
import { mixedScenes, prices } from './native-mixed-support';

const APP = `
import asyncio
import ctypes
import sys
from typing import TypedDict

from langgraph.graph import END, START, StateGraph

library = ctypes.CDLL(sys.argv[2])


class Bill(TypedDict):
    total: int


def tax(state):  # BP: tax
    return {"total": library.owed((ctypes.c_int * 2)(10, 20), 2, 50)}  # BP: call


def graph_of(name, node, work):
    graph = StateGraph(Bill)
    graph.add_node(node, work)
    graph.add_edge(START, node)
    graph.add_edge(node, END)
    return graph.compile(name=name)


def main():
    desk = graph_of("desk", "tax", tax)
    given = {"total": 0}
    if sys.argv[1] == "invoke":
        desk.invoke(given)
    elif sys.argv[1] == "stream":
        for _ in desk.stream(given):
            pass
    elif sys.argv[1] == "ainvoke":
        asyncio.run(awaited(desk, given))
    elif sys.argv[1] == "nested":
        graph_of("office", "desk", desk).invoke(given)
    else:
        graph_of("office", "pass_on", lambda state: desk.invoke(state)).invoke(given)


async def awaited(desk, given):
    await desk.ainvoke(given)


main()
`;

mixedScenes('At a stop in C those who called Python', (scene) => {
  for (const way of ['invoke', 'stream', 'ainvoke', 'nested', 'inside'])
    it(`stand as they do at a stop in Python: ${way}`, async () => {
      const s = scene();
      const program = s.scene.app('desk.py', APP);
      const attributes = { program, args: [way, s.library()], lldbDap: s.delegate.path };
      await s.scene.launch(attributes, { dots: { [program]: [{ at: marker(program, 'call') }], [prices]: ['first'] } });
      let held = await s.scene.stop();
      const inPython = s.stack(held);
      await s.go(held);
      held = await s.scene.stop();
      const [c, ...inC] = s.stack(held);
      assert.match(c!, /^owed @ prices\.c/);
      // Some builds of Python lose the native frames of some debuggers.
      const without = inC.filter((row) => !row.startsWith('[native frames'));
      const names = (rows: string[]): string[] => rows.map((row) => row.split(/[ (]/)[0]!);
      assert.deepEqual(names(without), names(inPython), inC.join(' | '));
      await s.go(held);
      await s.scene.exit();
    });
});
