import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { Conversation, clearBreakpoints, file, marker, next, workspace } from './support';

interface Stopped {
  threadId: number;
  reason: string;
}

describe('a held call', () => {
  let conversation: Conversation;
  let ended: Promise<unknown>;

  beforeEach(() => {
    clearBreakpoints();
    conversation = new Conversation();
  });
  afterEach(async () => {
    await vscode.debug.stopDebugging();
    await ended;
    clearBreakpoints();
    conversation.dispose();
  });

  async function start(program: string, breakAt: [program: string, name: string]): Promise<vscode.DebugSession> {
    const uri = file(breakAt[0]);
    const at = new vscode.Location(uri, new vscode.Position(marker(uri, breakAt[1]), 0));
    vscode.debug.addBreakpoints([new vscode.SourceBreakpoint(at)]);
    const started = next(vscode.debug.onDidStartDebugSession);
    assert.ok(
      await vscode.debug.startDebugging(workspace(), {
        type: 'toolbreak',
        request: 'launch',
        name: program,
        program: file(program).fsPath,
      }),
    );
    const session = await started;
    ended = next(vscode.debug.onDidTerminateDebugSession, (each) => each.id === session.id);
    return session;
  }

  it('has the focus, its thread and its frames', async () => {
    const focused = next(vscode.debug.onDidChangeActiveStackItem, (item) => item instanceof vscode.DebugStackFrame);
    const session = await start('triage.py', ['triage.py', 'lookup_order']);
    const { threadId, reason } = await conversation.event<Stopped>('stopped');
    assert.equal(reason, 'breakpoint');
    const { stackFrames } = (await session.customRequest('stackTrace', { threadId })) as {
      stackFrames: { name: string }[];
    };
    assert.match(stackFrames[0]?.name ?? '', /^lookup_order\(order_id=7/);
    await focused;
    const item = vscode.debug.activeStackItem;
    assert.ok(item instanceof vscode.DebugStackFrame);
    assert.equal(item.threadId, threadId);
  });

  it('runs again by command', async () => {
    const session = await start('triage.py', ['triage.py', 'lookup_order']);
    const { threadId } = await conversation.event<Stopped>('stopped');
    // A call that has not run cannot run again.
    await assert.rejects(async () => session.customRequest('toolbreak/again', { threadId }), /has not run yet/);
    await session.customRequest('toolbreak/skip', { threadId, result: '{"total": 3}' });
    await conversation.event<Stopped>('stopped', (body) => body.threadId === threadId);
    await vscode.commands.executeCommand('toolbreak.again', {
      sessionId: session.id,
      threadId: `thread:${session.id}:${threadId}`,
    });
    await conversation.event<{ action: string }>('toolbreak/released', ({ action }) => action === 'again');
  });

  it('is skipped with a result', async () => {
    const session = await start('triage.py', ['triage.py', 'lookup_order']);
    const { threadId } = await conversation.event<Stopped>('stopped');
    await session.customRequest('toolbreak/skip', { threadId, result: '{"total": 3}' });
    const after = await conversation.event<Stopped>('stopped', (body) => body.threadId === threadId);
    assert.equal(after.reason, 'goto');
  });

  it('is cancelled by command', async () => {
    await start('triage.py', ['triage.py', 'lookup_order']);
    const { threadId } = await conversation.event<Stopped>('stopped');
    const session = vscode.debug.activeDebugSession;
    await vscode.commands.executeCommand('toolbreak.cancel', { sessionId: session?.id, threadId });
    await conversation.event('terminated');
  });

  it('belongs to a recorded call', async () => {
    const session = await start('triage.py', ['triage.py', 'lookup_order']);
    const run = await conversation.event<{ runFile: string }>('toolbreak/run');
    assert.match(run.runFile, /\.db$/);
    const { threadId } = await conversation.event<Stopped>('stopped');
    const { stackFrames } = (await session.customRequest('stackTrace', { threadId })) as {
      stackFrames: { id: number }[];
    };
    const { call } = (await session.customRequest('toolbreak/frameCall', { frameId: stackFrames[0]?.id })) as {
      call?: string;
    };
    assert.match(call ?? '', /^\d+\.\d+$/);
    const back = (await session.customRequest('toolbreak/callFrame', { call })) as {
      threadId?: number;
      frameIndex?: number;
    };
    assert.deepEqual(back, { threadId, frameIndex: 0 });
  });
});
