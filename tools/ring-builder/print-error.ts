// Formats an error for stderr and chooses the exit code. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { diskError } from '@ringwright/base/disk-error';
import { shortenedWords } from '@ringwright/base/shortened';
import { messageOf } from '@ringwright/base/thrown';
import type { Line } from './cli/terminal.ts';
import { type Naming, nameRings } from './name-rings.ts';

/** Exit code for a bug of this program (EX_SOFTWARE in sysexits.h). No expected failure has it. */
const EXIT_BUG = 70;

interface PrintedError {
  readonly exit: number;
  readonly lines: readonly Line[];
}

interface Typed {
  readonly inJson: boolean;
  /** Completes the commands in the message and the hint. */
  readonly naming: Naming;
  /** The hint for wrong usage that has none of its own: the help of the command. */
  readonly help: string;
}

export function printError(error: unknown, { inJson, naming, help }: Typed): PrintedError {
  const coded = error instanceof CodedError ? error : diskError(error);
  if (coded === null) return printBug(error, inJson);
  const { exit } = coded;
  const message = shortenedWords(nameRings(coded.message, naming));
  const hint = nameRings(coded.hint === '' && exit === 2 ? help : coded.hint, naming);
  if (inJson) return { exit, lines: [JSON.stringify({ ...coded.toJSON(), message, hint })] };
  const hints = hint === '' ? [] : [`hint: ${hint}`];
  return { exit, lines: [headOf(` ${coded.code}: ${message}`), ...hints] };
}

function printBug(error: unknown, inJson: boolean): PrintedError {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const hint = 'this is a bug in ring-builder; please report it with the command you typed';
  const message = messageOf(error);
  const document = { code: 'BUG', message, hint, details: { stack } };
  if (inJson) return { exit: EXIT_BUG, lines: [JSON.stringify(document)] };
  const [first = '', ...more] = stack.split('\n');
  return { exit: EXIT_BUG, lines: [headOf(` BUG: ${first}`), ...more, `hint: ${hint}`] };
}

function headOf(rest: string): Line {
  return { style: 'red', text: 'error', rest };
}
