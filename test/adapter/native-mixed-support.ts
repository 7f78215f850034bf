import { basename, join } from 'node:path';
import { listProcesses } from '../../adapter/common/processes';
import type { DapClient } from '../support/dap-client';
import { Compiled, delegates, type Delegate } from '../support/native';
import { apps, scenes, type Scene, type Setup, type Stop } from './e2e-support';

export const agent = join(apps, 'mixed', 'agent.py');
export const prices = join(apps, 'mixed', 'prices.c');

/** A scene with the agent whose tool works in native code. */
export class MixedScene {
  readonly compiled = new Compiled();

  constructor(
    readonly scene: Scene,
    readonly delegate: Delegate,
  ) {
    scene.cleanup(() => this.compiled.remove());
  }

  get client(): DapClient {
    return this.scene.client;
  }

  library(): string {
    return this.compiled.program(prices, ['-shared', '-fPIC'], 'prices.so');
  }

  program(): string {
    return this.compiled.program(prices, [], 'prices');
  }

  /** The agent, its tool working in this way; `more` are attributes of the launch. */
  async launch(way: string, native: string, setup: Setup, more: Record<string, unknown> = {}): Promise<void> {
    await this.scene.launch({ program: agent, args: [way, native], lldbDap: this.delegate.path, ...more }, setup);
  }

  async go({ threadId }: Stop): Promise<void> {
    await this.client.request('continue', { threadId });
  }

  /** Debuggers of native code below this session's adapter. */
  async debuggers(): Promise<string[]> {
    const adapter = this.client.child!.pid!;
    const rows = await listProcesses();
    return rows
      .filter(({ parent, command }) => parent === adapter && /lldb/.test(command))
      .map(({ command }) => command);
  }

  /** `name file:line`, as the stack shows it; without a file only the name. */
  stack({ frames }: Pick<Stop, 'frames'>): string[] {
    return frames.map(({ name, source, line }) => (source?.path ? `${name} @ ${basename(source.path)}:${line}` : name));
  }
}

/** Tests with each debugger of native code that is there. */
export function mixedScenes(title: string, body: (scene: () => MixedScene) => void): void {
  for (const delegate of delegates()) {
    scenes(`${title}, with ${delegate.name}`, (scene) => {
      let made: MixedScene;
      beforeEach(() => {
        made = new MixedScene(scene(), delegate);
      });
      body(() => made);
    });
  }
}
