/** `node --import toolbreak/register app.mjs` with TOOLBREAK_RECORD: records before anything of the app runs. */
import { begin, joinSession } from './run.mjs';
import { notRecorded } from './joined.mjs';

joinSession();
const folder = process.env.TOOLBREAK_RECORD;
if (folder !== undefined && folder !== '') {
  try {
    begin(folder);
  } catch (error) {
    notRecorded(error);
  }
}
