// Tells a person what is going on. On stdout, or on stderr when stdout belongs to a JSON document.
import { styleText } from 'node:util';
import { printable } from '@ringwright/base/printable';

export interface Narrator {
  /** A new act begins. */
  act(title: string): void;
  /** One thing that happened. */
  say(line: string): void;
  /** A command as it is run. */
  command(line: string): void;
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
    say: (line) => void stream.write(`   ${printable(line)}\n`),
    command: (line) => void stream.write(`   ${style('cyan', `$ ${line}`)}\n`),
  };
}
