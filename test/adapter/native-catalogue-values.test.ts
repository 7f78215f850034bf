import assert from 'node:assert/strict';
import { catalogue, REFUSED } from './native-catalogue-support';

catalogue('Values', [
  {
    name: 'numbers, characters, truth',
    file: 'kinds.c',
    async talk(t) {
      await t.launch({ dots: ['scalars'] });
      const at = await t.stop();
      const names = ['yes', 'letter', 'small', 'byte', 'two', 'four', 'eight', 'single', 'twofold'];
      assert.equal((await t.values(at, names))['eight'], '-9000000000000000000');
      await t.go(at);
      await t.end();
    },
  },
  {
    name: 'structs in structs, a list of them',
    file: 'kinds.c',
    async talk(t) {
      await t.launch({ dots: ['shapes'] });
      const at = await t.stop();
      await t.values(at, ['first', 'last'], { depth: 3 });
      await t.values(at, ['at'], { depth: 4 });
      await t.go(at);
      await t.end();
    },
  },
  {
    name: 'pointers: to pointers, to nothing, to functions, to text',
    file: 'kinds.c',
    async talk(t) {
      await t.launch({ dots: ['pointers', 'pointers after'] });
      let at = await t.stop();
      const names = ['value', 'to', 'twofold', 'nothing', 'function', 'text'];
      await t.values(at, names, { depth: 2 });
      await t.go(at);
      at = await t.stop();
      await t.values(at, names, { depth: 2 });
      assert.equal(await t.evaluate(at, '*to'), '78');
      await t.go(at);
      await t.end();
    },
  },
  {
    name: 'arrays: rows, grids, words, large ones',
    file: 'kinds.c',
    async talk(t) {
      await t.launch({ dots: ['arrays'] });
      const at = await t.stop();
      await t.values(at, ['row', 'grid', 'word', 'names'], { depth: 2 });
      const big = (await t.scope(at.top, 'Locals')).find(({ name }) => name === 'big')!;
      t.note('big', big.indexedVariables);
      const asked = { variablesReference: big.variablesReference, filter: 'indexed' as const, start: 298, count: 2 };
      const { variables } = await t.client.request('variables', asked);
      t.note(
        'end of big',
        variables.slice(0, 2).map(({ name, value }) => [name, value]),
      );
      assert.deepEqual(
        variables.map(({ value }) => value),
        ['0', '9'],
      );
      await t.go(at);
      await t.end();
    },
  },
  {
    name: 'unions, enums, bit fields',
    file: 'kinds.c',
    async talk(t) {
      await t.launch({ dots: ['unions'] });
      const at = await t.stop();
      await t.values(at, ['number', 'color', 'flags'], { depth: 2 });
      await t.evaluate(at, 'flags.level + 1');
      await t.evaluate(at, 'color == GREEN');
      await t.go(at);
      await t.end();
    },
  },
  {
    name: 'globals, and statics of a file and of a function',
    file: 'kinds.c',
    async talk(t) {
      await t.launch({ dots: ['tally', 'print'] });
      let at = await t.stop();
      for (let i = 0; i < 2; i++) {
        await t.evaluate(at, 'calls');
        await t.go(at);
        at = await t.stop();
      }
      assert.equal(await t.evaluate(at, 'calls'), '6');
      await t.go(at);
      at = await t.stop();
      await t.values(at, ['global_count', 'global_ratio'], { scope: 'Globals' });
      assert.equal(await t.evaluate(at, 'global_count'), '14');
      await t.evaluate(at, 'global_title');
      await t.go(at);
      await t.end();
    },
  },
  {
    name: 'a number is changed, and the program goes on with it',
    file: 'flow.c',
    async talk(t) {
      await t.launch({ args: ['loop'], dots: [{ at: 'loop', condition: 'i == 5' }] });
      const at = await t.stop();
      await t.set(at, 'total', '1000');
      await t.go(at);
      await t.end();
      assert.ok(t.output().includes('total 1005'));
    },
  },
  {
    name: 'members, elements, pointers and enums are changed; nonsense is refused',
    file: 'kinds.c',
    async talk(t) {
      await t.launch({ dots: ['shapes'] });
      const at = await t.stop();
      await t.set(at, 'first.corners.[2].y', '60');
      await t.set(at, 'first.color', '6');
      await t.set(at, 'last.flags.level', '3');
      await t.values(at, ['first', 'last'], { depth: 3 });
      await t.set(at, 'at', '0');
      assert.equal(await t.evaluate(at, 'at == 0'), 'true');
      assert.equal(await t.set(at, 'first.color', 'no such word'), REFUSED);
      await t.evaluate(at, 'first.color');
      await t.evaluate(at, 'at = &first');
      await t.go(at);
      await t.end();
    },
  },
  {
    name: 'expressions: arithmetic, members, casts, calls, assignments, errors',
    file: 'kinds.c',
    async talk(t) {
      await t.launch({ dots: ['shapes'] });
      const at = await t.stop();
      for (const expression of [
        '1 + 2 * 3',
        'first.corners[1].x',
        'at->next->name',
        '(double)first.corners[2].y / 4',
        'sizeof(struct shape)',
        'twice(21)',
        'first.corners[0].x = 9',
        'first.corners[0].x',
        'nobody',
        '1 +',
      ])
        await t.evaluate(at, expression);
      await t.evaluate(at, 'first.corners[1].x', 'hover');
      await t.evaluate(at, 'sum', 'watch', at.frames[1]);
      await t.go(at);
      await t.end();
    },
  },
  {
    name: 'variables of the frames below',
    file: 'flow.c',
    async talk(t) {
      await t.launch({ args: ['steps'], dots: ['add'] });
      const at = await t.stop();
      await t.values(at, ['left', 'right']);
      await t.values(at, ['number'], { frame: at.frames[1]! });
      await t.values(at, ['argc', 'result'], { frame: at.frames[2]! });
      await t.values(at, ['left', 'right']);
      await t.clear();
      await t.go(at);
      await t.end();
    },
  },
  {
    name: 'containers of C++',
    file: 'containers.cpp',
    async talk(t) {
      await t.launch({ dots: ['containers'] });
      const at = await t.stop();
      for (const name of ['numbers', 'words', 'pair', 'tuple', 'fixed', 'shared', 'some', 'none', 'reference'])
        await t.look(at, name);
      assert.match(await t.evaluate(at, 'text'), /"a string of some length, longer than the small ones are"/);
      await t.go(at);
      await t.end();
    },
  },
  {
    name: 'maps and sets of C++',
    file: 'containers.cpp',
    async talk(t) {
      await t.launch({ dots: ['ordered'] });
      const at = await t.stop();
      for (const name of ['ages', 'unique']) await t.look(at, name, 2);
      assert.equal(await t.evaluate(at, 'size'), '4');
      await t.go(at);
      await t.end();
    },
  },
  {
    name: 'classes: base, virtual functions, this, statics',
    file: 'containers.cpp',
    async talk(t) {
      await t.launch({ dots: ['bird'] });
      let at = await t.stop();
      await t.values(at, ['this', 'loud'], { depth: 3 });
      await t.evaluate(at, 'span');
      await t.evaluate(at, 'this->name.size()');
      await t.evaluate(at, 'zoo::Animal::born');
      at = await t.step('stepOut', at);
      await t.values(at, ['bird', 'animal'], { depth: 2 });
      await t.go(at);
      await t.end();
    },
  },
  {
    name: 'templates and lambdas by name',
    file: 'containers.cpp',
    async talk(t) {
      await t.launch({ dots: ['push', 'lambda'] });
      let at = await t.stop();
      assert.match(at.top.name, /zoo::Stack<double>::push/);
      await t.values(at, ['item']);
      at = await t.step('next', at);
      await t.evaluate(at, 'items.size()');
      await t.go(at);
      at = await t.stop();
      await t.values(at, ['more']);
      await t.evaluate(at, 'captured');
      await t.go(at);
      await t.end();
    },
  },
  {
    name: 'memory of a variable, read and written',
    file: 'kinds.c',
    async talk(t) {
      await t.launch({ dots: ['unions'] });
      const at = await t.stop();
      const can = t.capabilities.supportsReadMemoryRequest === true || !t.plain;
      let bytes: number[];
      if (can) {
        const found = (await t.scope(at.top, 'Locals')).find(({ name }) => name === 'number')!;
        const address = /0x[0-9a-f]+/.exec(
          (await t.client.request('evaluate', { expression: '&number', frameId: at.top.id, context: 'watch' })).result,
        )![0];
        const body = await t.client.request('readMemory', {
          memoryReference: found.memoryReference ?? address,
          count: 4,
        });
        bytes = [...Buffer.from(body!.data!, 'base64')];
      } else {
        const said = await t.command('memory read --size 1 --format x --count 4 &number', at);
        bytes = [...said.matchAll(/ 0x([0-9a-f]{2})\b/g)].map(([, one]) => parseInt(one!, 16));
      }
      assert.deepEqual(bytes, [0, 0, 0x80, 0x3f]);
      t.note('memory', bytes);
      await t.go(at);
      await t.end();
    },
  },
  {
    name: 'machine code of where it stands',
    file: 'flow.c',
    async talk(t) {
      await t.launch({ args: ['steps'], dots: ['add'] });
      const at = await t.stop();
      const memoryReference = at.top.instructionPointerReference!;
      const { instructions } = (await t.client.request('disassemble', { memoryReference, instructionCount: 4 }))!;
      t.note(
        'instructions',
        // The plain adapter's columns differ from version to version.
        instructions.map(({ instruction, line }) => [instruction.trim().replace(/\s+/g, ' '), line]),
      );
      assert.equal(instructions.length, 4);
      const registers = await t.scope(at.top, 'Registers');
      t.note(
        'groups of registers',
        registers.map(({ name }) => name),
      );
      await t.clear();
      await t.go(at);
      await t.end();
    },
  },
]);
