import assert from 'node:assert/strict';
import { standIn } from './native-support';
import { agent, mixedScenes, prices } from './native-mixed-support';

mixedScenes('Why a breakpoint in C waits', (scene) => {
  it('says that the library is there, but was built without debug information', async () => {
    const s = scene();
    const library = s.compiled.program(prices, ['-shared', '-fPIC', '-g0'], 'prices.so');
    await s.launch('library', library, { dots: { [prices]: ['add'] } });
    await s.client.waitFor('breakpoint', ({ breakpoint: { verified, message } }) => {
      return !verified && /prices\.so is loaded, but .* Compile it with -g/.test(message ?? '');
    });
    assert.equal(await s.scene.exit(), 'To pay: 30\n');
  });

  it('says the same of a program that a tool starts', async () => {
    const s = scene();
    const program = s.compiled.program(prices, ['-g0'], 'prices');
    await s.launch('program', program, { dots: { [prices]: ['add'] } });
    await s.client.waitFor('breakpoint', ({ breakpoint: { message } }) =>
      /^prices is loaded, but .* Compile it with -g/.test(message ?? ''),
    );
    assert.equal(await s.scene.exit(), 'To pay: 30\n');
  });

  it('says that no lldb-dap was found, and how to install it', async () => {
    const s = scene();
    const client = s.scene.adapter(['dap'], { PATH: '/nowhere', TOOLBREAK_LLDB_DAP: '' });
    const more = { program: agent, args: ['library', s.library()] };
    await s.scene.launch(more, { dots: { [prices]: ['add'] } }, client);
    await client.waitFor('breakpoint', ({ breakpoint: { message } }) =>
      /none was found on the PATH\. Install it with/.test(message ?? ''),
    );
    assert.equal(await s.scene.exit(0, client), 'To pay: 30\n');
  });

  for (const [what, way] of [
    ['a library', 'library'],
    ['a program', 'program'],
  ] as const)
    it(`says what to do where the system lets no debugger in: ${what}`, async () => {
      const s = scene();
      const refuses = standIn(
        s.scene,
        'lldb-dap-refuses',
        `const on = (request) => request.command === 'attach' ? send({ type: 'response', request_seq: request.seq, success: false, message: 'error: attach failed: Operation not permitted' }) : answer(request);`,
      );
      const native = way === 'library' ? s.library() : s.program();
      await s.launch(way, native, { dots: { [prices]: ['add'] } }, { lldbDap: refuses });
      await s.client.waitForOutput('important', '--cap-add=SYS_PTRACE');
      const said = s.client.output['important'] ?? '';
      assert.match(said, /could not be attached to: Attach failed: Operation not permitted\. .*ptrace_scope=0/);
      assert.equal(await s.scene.exit(), 'To pay: 30\n');
    });

  it('says that started programs are not looked at with "subProcess": false', async () => {
    const s = scene();
    await s.launch('program', s.program(), { dots: { [prices]: ['add'] } }, { subProcess: false });
    await s.client.waitFor('breakpoint', ({ breakpoint: { message } }) => /"subProcess" is false/.test(message ?? ''));
    assert.equal(await s.scene.exit(), 'To pay: 30\n');
  });

  it('is verified while a program that a tool started has its code', async () => {
    const s = scene();
    await s.launch('program', s.program(), { dots: { [prices]: ['add'] } });
    const held = await s.scene.stop();
    await s.client.waitFor('breakpoint', ({ breakpoint }) => breakpoint.verified);
    await s.scene.setDots(prices, []);
    await s.go(held);
    assert.equal(await s.scene.exit(), 'To pay: 30\n');
  });
});
