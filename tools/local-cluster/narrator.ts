// Tells a person what is happening, on stdout, or on stderr if stdout is a JSON document.
import { styleText } from 'node:util';
import { printable } from '@ringwright/base/printable';
import { breakCommand } from './break-command.ts';

export interface Narrator {
  /** Begins a new act. */
  act(title: string): void;
  /** Prints one event. */
  say(line: string): void;
  /** Prints a command as it is run, its words quoted for a shell. */
  command(args: readonly string[]): void;
}

/** Precedes every printed line. */
export const margin = '   ';

/** Files and pipes have no line width. */
export function columnsOf({ isTTY, columns }: NodeJS.WriteStream): number {
  return isTTY && columns > 0 ? columns : Number.POSITIVE_INFINITY;
}

export function narrator(stream: NodeJS.WriteStream): Narrator {
  let acts = 0;
  const style = (format: Parameters<typeof styleText>[0], text: string): string =>
    styleText(format, printable(text), { stream });
  return {
    act: (title) => {
      acts += 1;
      stream.write(`\n${style('bold', `${acts}. ${title}`)}\n`);
    },
    say: (line) => void stream.write(`${margin}${printable(line)}\n`),
    command: (args) => {
      const lines = breakCommand(['$', ...args], columnsOf(stream) - margin.length);
      for (const line of lines) stream.write(`${margin}${style('cyan', line)}\n`);
    },
  };
}
