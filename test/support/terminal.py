"""Runs a command in a pseudo terminal of its own: what comes on our stdin is typed there, what it shows goes to our stdout.

The first line of stderr is the command's process id, the last one its exit status.
"""

import json
import os
import pty
import select
import sys


def main() -> None:
    wanted = json.loads(sys.argv[1])
    pid, terminal = pty.fork()
    if pid == 0:
        for name, value in wanted["env"].items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        os.chdir(wanted["cwd"])
        os.execvp(wanted["args"][0], wanted["args"])
    print(pid, file=sys.stderr, flush=True)
    inputs = [0, terminal]
    while terminal in inputs:
        for ready in select.select(inputs, [], [])[0]:
            try:
                data = os.read(ready, 65536)
            except OSError:  # The last process with this terminal ended.
                data = b""
            if not data:
                inputs.remove(ready)
            else:
                os.write(terminal if ready == 0 else 1, data)
    _, status = os.waitpid(pid, 0)
    print(os.waitstatus_to_exitcode(status), file=sys.stderr, flush=True)


main()
