// What is printed on stderr when a command fails, and the exit code. Pure but for the colour.
import { styleText } from 'node:util';
import { CodedError } from '@ringwright/base/coded-error';

/** A bug of this program, after sysexits.h; no expected failure ends with it. */
const EXIT_BUG = 70;

export interface PrintedError {
  readonly exit: number;
  readonly output: string;
}

export function printError(error: unknown, { inJson }: { readonly inJson: boolean }): PrintedError {
  const coded = error instanceof CodedError ? error : fileError(error);
  if (coded === null) return printBug(error, inJson);
  if (inJson) return { exit: coded.exit, output: `${JSON.stringify(coded)}\n` };
  const head = `${styleText('red', 'error', { stream: process.stderr })} ${coded.code}`;
  const hint = coded.hint === '' ? '' : `hint: ${coded.hint}\n`;
  return { exit: coded.exit, output: `${head}: ${coded.message}\n${hint}` };
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
  const output = inJson ? `${JSON.stringify(document)}\n` : `error BUG: ${stack}\nhint: ${hint}\n`;
  return { exit: EXIT_BUG, output };
}
