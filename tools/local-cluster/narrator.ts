// Tells a person what is going on. On stdout, or on stderr when stdout belongs to a JSON document.
import { styleText } from 'node:util';
import { printable } from '@ringwright/base/printable';
import { breakCommand } from './break-command.ts';

export interface Narrator {
  /** A new act begins. */
  act(title: string): void;
  /** One thing that happened. */
  say(line: string): void;
  /** A command as it is run, its words quoted for a shell. */
  command(args: readonly string[]): void;
}

/** Stands before every line that is told. */
export const margin = '   ';

/** Files and pipes have no end of a line. */
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
