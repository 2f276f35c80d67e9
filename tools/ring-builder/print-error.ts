// What is printed on stderr when a command fails, and the exit code. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import type { Line } from './terminal.ts';

/** A bug of this program, after sysexits.h; no expected failure ends with it. */
const EXIT_BUG = 70;

export interface PrintedError {
  readonly exit: number;
  readonly lines: readonly Line[];
}

export function printError(error: unknown, { inJson }: { readonly inJson: boolean }): PrintedError {
  const coded = error instanceof CodedError ? error : fileError(error);
  if (coded === null) return printBug(error, inJson);
  if (inJson) return { exit: coded.exit, lines: [JSON.stringify(coded)] };
  const hint = coded.hint === '' ? [] : [`hint: ${coded.hint}`];
  return { exit: coded.exit, lines: [headOf(` ${coded.code}: ${coded.message}`), ...hint] };
}

/** Node's own errors of the file system: the disk is full, the folder is not ours, and the like. */
function fileError(error: unknown): CodedError | null {
  if (!(error instanceof Error && 'syscall' in error && 'code' in error)) return null;
  const code = String(error.code);
  const path = 'path' in error ? String(error.path) : '';
  const full = code === 'ENOSPC' || code === 'EDQUOT';
  return new CodedError('DISK_FAILED', error.message, {
    hint: full
      ? 'free some space, then type the command again'
      : 'see the path, its owner and mode',
    details: { code, path },
    cause: error,
  });
}

function printBug(error: unknown, inJson: boolean): PrintedError {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const hint = 'this is a bug of ring-builder; please report it with the command you typed';
  const message = error instanceof Error ? error.message : String(error);
  const document = { code: 'BUG', message, hint, details: { stack } };
  if (inJson) return { exit: EXIT_BUG, lines: [JSON.stringify(document)] };
  const [first = '', ...more] = stack.split('\n');
  return { exit: EXIT_BUG, lines: [headOf(` BUG: ${first}`), ...more, `hint: ${hint}`] };
}

function headOf(rest: string): Line {
  return { style: 'red', text: 'error', rest };
}
