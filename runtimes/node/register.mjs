/** `node --import toolbreak/register app.mjs` with TOOLBREAK_RECORD: records before anything of the app runs. */
import { begin } from './run.mjs';
import { say } from './report.mjs';

const folder = process.env.TOOLBREAK_RECORD;
if (folder !== undefined && folder !== '') {
  try {
    begin(folder);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    say(`nothing is recorded (${reason}); the program runs all the same.`);
  }
}
