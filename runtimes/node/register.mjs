/** `node --import toolbreak/register app.mjs` with TOOLBREAK_RECORD: records before anything of the app runs. */
import { resolve } from 'node:path';
import { begin, joinSession } from './run.mjs';
import { notRecorded } from './joined.mjs';

joinSession();
const folder = process.env.TOOLBREAK_RECORD;
if (folder !== undefined && folder !== '') {
  try {
    // Processes that are started elsewhere record there, too.
    process.env.TOOLBREAK_RECORD = resolve(folder);
    begin(folder);
  } catch (error) {
    notRecorded(error);
  }
}
