import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findRun, listRuns, type Place } from '../../adapter/store/life/find';
import { SpoolFile, dict } from '../support/spool';
import { RecordedProject } from './recorded';

const run = (name: string): SpoolFile =>
  new SpoolFile('4000001-abc')
    .add(1, 1, 'workflow', name, name, 'm', null, 1, 1)
    .add(2, 1, name, 0)
    .add(3, 1, 0, 1, 1, 2000, dict({}), null)
    .add(4, 1, 5000, 0, null, null);

describe('store: finding a run', function () {
  let project: RecordedProject;
  let place: Place;

  beforeEach(() => {
    project = new RecordedProject();
    place = { folders: [project.folder], words: 'of shop' };
  });
  afterEach(() => project.remove());

  it('by number, id, "last" and path', () => {
    const first = project.record('one', [run('triage')]);
    const second = project.record('two', [run('refunds')]);
    assert.deepEqual(
      listRuns(place).map(({ run: id, number, name }) => [id, number, name]),
      [
        ['two', 2, 'refunds'],
        ['one', 1, 'triage'],
      ],
    );
    assert.equal(findRun('1', place), first);
    assert.equal(findRun('two', place), second);
    assert.equal(findRun('last', place), second);
    assert.equal(findRun(first, { folders: [], words: '' }), first);
  });

  it('says in a sentence what there is instead', () => {
    assert.throws(() => findRun('3', place), /No run of shop is recorded here\. .*--project DIR or --all\.$/);
    assert.throws(
      () => findRun('3', { folders: [], words: 'of any project' }),
      /toolbreak run -- python app\.py"\)\.$/,
    );
    project.record('one', [run('triage')]);
    project.record('two', [run('refunds')]);
    assert.throws(() => findRun('7', place), {
      name: 'UserError',
      message: 'There is no run 7 of shop. The newest are 2 (refunds), 1 (triage).',
    });
    assert.throws(() => findRun('1.5', place), {
      message: '1.5 is the number of a call. Name its run first, as in "toolbreak show last 1.5".',
    });
    assert.throws(() => findRun('x'.repeat(500), place), /There is no run x{59}… of shop/);
    assert.throws(() => findRun(join(project.root, 'none.db'), place), /There is no file .*none\.db/);
    assert.throws(() => findRun(project.root, place), /is no file/);
    assert.throws(() => findRun('', place), /A run is named by its number/);
  });

  it('says how many more there are than it names', () => {
    for (let number = 1; number <= 8; number++) project.record(`run${number}`, [run('triage')]);
    assert.throws(() => findRun('70', place), /The newest are 8 \(triage\), .*\(triage\) and 3 more\.$/);
  });

  it('shows names that cannot steer a terminal', () => {
    project.record('one', [run('\u001b[31mtri\nage\u202e')]);
    assert.throws(() => findRun('7\u001b[2J', place), {
      message: 'There is no run 7 [2J of shop. The newest are 1 ( [31mtri age ).',
    });
  });

  it('asks which one is meant when two have the same number', () => {
    const other = join(project.root, 'elsewhere');
    project.record('one', [run('triage')]);
    project.record('first', [run('refunds')], [], other);
    const both = { folders: [project.folder, other], words: 'of any project' };
    assert.throws(() => findRun('1', both), /2 runs of any project are named 1\. Say which: .*one \(triage\)/);
    assert.equal(findRun('one', both), project.fileOf('one'));
    // Imported into another project, a run has the same id.
    project.record('one', [run('triage')], [], other);
    assert.throws(
      () => findRun('one', both),
      /2 runs of any project have this id\. Name the file: .*one\.db, .*one\.db\.$/,
    );
  });

  it('finds a file that cannot be read by its id, and lists it with the reason', () => {
    mkdirSync(project.folder, { recursive: true });
    writeFileSync(project.fileOf('broken'), 'no database at all');
    assert.equal(findRun('broken', place), project.fileOf('broken'));
    assert.match(listRuns(place)[0]!.problem ?? '', /is damaged/);
  });
});
