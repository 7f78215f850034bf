import assert from 'node:assert/strict';
import { WatchedValues } from '../../adapter/targets/native/watched';

const DATA = '7ffe10/4';

describe('What happened to watched memory', () => {
  it('is told of the variable that is there now, and not from a value that it had while nobody watched', async () => {
    let value = '3';
    const watched = new WatchedValues(() => Promise.resolve(value));
    const change = (to: string): Promise<string> => ((value = to), watched.happened(DATA, 'write'));
    watched.name(DATA, 'sum', 'int');
    await watched.look([DATA]);
    assert.equal(await change('6'), 'sum changed from 3 to 6');
    // Asked for again, without its type: it is the same one.
    watched.name(DATA, 'sum', undefined);
    assert.equal(await change('9'), 'sum changed from 6 to 9');

    watched.keep([]);
    value = '70';
    await watched.look([DATA]);
    assert.equal(await change('71'), 'sum changed from 70 to 71');

    watched.name(DATA, 'count', 'int');
    await watched.look([DATA]);
    assert.equal(await change('72'), 'count changed from 71 to 72');
  });
});
