import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { compile } from '../support/native';
import { rows } from './e2e-support';
import { nativeScenes } from './native-support';

const LOGIN = `#include <stdio.h>
#include <string.h>

int fail(const char *api_key, const char *url) {
  char password[32];
  strcpy(password, "hunter1 two words");
  char iban[32];
  strcpy(iban, "DE89hunter2");
  int open = 7; /* BP: url */
  *(volatile int *)16 = open; /* BP: fault */
  return printf("%s%s%s%s", password, iban, api_key, url);
}

int main(void) { return fail("hunter3", "https://bob:hunter4@db.example.com/x"); }
`;

nativeScenes('What is recorded of native code', (native) => {
  it('holds no secret: locals of a crash and log messages, the usual names and those of the settings', async () => {
    const { s, delegate, stop, go } = native();
    const source = s.app('login.c', LOGIN);
    const program = join(dirname(source), 'login');
    compile([source], program);
    const line = (name: string): number => LOGIN.split('\n').findIndex((text) => text.includes(`BP: ${name} `)) + 1;
    const attributes = { program, cwd: dirname(source), lldbDap: delegate.path, record: { maskKeys: ['iban'] } };
    await s.client.launch(attributes, async () => {
      const breakpoints = [
        { line: line('url'), logMessage: 'as {url}' },
        { line: line('fault'), logMessage: 'as {url} with {api_key}, {open}' },
      ];
      await s.client.request('setBreakpoints', { source: { path: source }, breakpoints });
    });
    const held = await stop();
    assert.equal(held.body.reason, 'exception');
    await go(held);
    await s.client.waitFor('terminated');
    const events = rows<{ name: string; data: string }>(await s.recording(), 'SELECT name, data FROM events');
    const told = (name: string): string[] => events.filter((event) => event.name === name).map(({ data }) => data);
    assert.deepEqual(
      events.filter(({ data }) => /hunter/.test(data ?? '')),
      [],
    );
    assert.match(told('crash')[0]!, /"password":"\*\*\*","iban":"\*\*\*","open":"7"/);
    const [plain, secret] = told('log');
    assert.match(plain!, /"as .*https:\/\/bob:\*\*\*@db\.example\.com/);
    assert.match(secret!, /"as {url} with \*\*\*, {open}"/);
    // A person sees what they asked for.
    assert.match(s.client.output['console'] ?? '', /with .*hunter3.*, 7/);
  });
});
