// Asks for a passphrase on a terminal without echoing it.
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { usage } from './arguments.ts';

interface PassphraseTerminal {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
}

/** Returns null without a terminal or after Ctrl-D. Throws USAGE if the two entries differ. */
export async function askPassphrase(
  terminal: PassphraseTerminal,
  { isNew }: { readonly isNew: boolean },
): Promise<string | null> {
  if (!terminal.input.isTTY || !terminal.output.isTTY) return null;
  const first = await readHidden(terminal, isNew ? 'new passphrase: ' : 'passphrase: ');
  if (!isNew || first === null) return first;
  const second = await readHidden(terminal, 'once more: ');
  if (first === second) return first;
  throw usage('the two passphrases differ', 'nothing was changed; repeat the command');
}

function readHidden({ input, output }: PassphraseTerminal, prompt: string): Promise<string | null> {
  // readline edits the line; its echo is discarded.
  const nullOutput = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input, output: nullOutput, terminal: true, historySize: 0 });
  output.write(prompt);
  return new Promise((resolve) => {
    let answer: string | null = null;
    reader.once('line', (line) => {
      answer = line;
      reader.close();
    });
    reader.once('SIGINT', () => {
      reader.close();
      process.kill(process.pid, 'SIGINT');
    });
    reader.once('close', () => {
      output.write('\n');
      resolve(answer);
    });
  });
}
