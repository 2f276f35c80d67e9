// Program: ring-builder. Runs one command per process.
import { askPassphrase } from './cli/ask-passphrase.ts';
import type { Context } from './cli/command.ts';
import type { Display } from './cli/display.ts';
import { Terminal } from './cli/terminal.ts';
import { runCommand } from './run-command.ts';

const { stdin, stdout, stderr } = process;

// A reader that closes the pipe early, such as `head`, does not change the exit code.
stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') process.exitCode = 4;
  process.exit();
});
// While a command works, this is like the loss of its terminal: it returns what it lent to servers.
stderr.once('error', () => {
  stderr.on('error', () => undefined);
  if (process.exitCode === undefined) process.kill(process.pid, 'SIGHUP');
});

process.exitCode = await runCommand(process.argv.slice(2), {
  folder: '',
  env: process.env,
  output: terminalOf(stdout),
  errors: terminalOf(stderr),
  columns: stdout.columns,
  screen: () => (stderr.isTTY ? screenOf(stderr) : null),
  askPassphrase: (use) => askPassphrase({ input: stdin, output: stderr }, use),
  beforeInterrupt,
});

/** hasColors() obeys NO_COLOR. */
function terminalOf(stream: NodeJS.WriteStream): Terminal {
  const colors = stream.isTTY && stream.hasColors();
  return new Terminal({ write: (text) => stream.write(text), colors });
}

/** Leaves a quarter of the window for earlier output. */
function screenOf({ columns, rows }: NodeJS.WriteStream) {
  return { columns: columns || 80, lines: Math.max(6, Math.floor((rows || 24) * 0.75)) };
}

/** Runs work when a signal arrives, then exits. A second signal ends the process at once. */
function beforeInterrupt(display: Display): Context['atInterrupt'] {
  return (work) => {
    const signals = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;
    const removers: (() => void)[] = [];
    const end = (code: number): void => {
      for (const off of removers) off();
      display.erase();
      void work()
        .catch(() => undefined) // the process exits in any case
        .finally(() => process.exit(code));
    };
    for (const [signal, code] of Object.entries(signals)) {
      const listener = (): void => end(code);
      process.once(signal, listener);
      removers.push(() => process.off(signal, listener));
    }
    return () => {
      for (const off of removers) off();
    };
  };
}
