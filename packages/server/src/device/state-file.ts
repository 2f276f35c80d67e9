// Small JSON files of the server's own state, with one schema for reading and writing: what the
// next start could not read is never written.
import { CodedError } from '@ringwright/base/coded-error';
import { diskError, isDiskFull } from '@ringwright/base/disk-error';
import { stateFileBytesMax } from '@ringwright/base/limits-store';
import { codeOf, messageOf } from '@ringwright/base/thrown';
import { replaceOwnFile } from '@ringwright/node/durable-files';
import { readRegularFile } from '@ringwright/node/read-regular-file';
import { SharedRuns } from '@ringwright/node/shared-runs';
import { z } from 'zod';

/** Returns null if there is no such file. Throws DISK_FAILED for a file that cannot be read. */
export function readState<Schema extends z.ZodType>(
  file: string,
  schema: Schema,
): Promise<z.output<Schema> | null> {
  return readIfThere(file, (text) => schema.parse(JSON.parse(text)));
}

/** A state in memory and its file. One write serves all changes made during the write before. */
export class LatestState<Schema extends z.ZodType> {
  readonly #file: string;
  readonly #writes: SharedRuns;

  constructor(file: string, schema: Schema, state: () => z.input<Schema>) {
    this.#file = file;
    this.#writes = new SharedRuns(() => writeState(file, schema, state()));
  }

  /** When it resolves, the state at the time of the call, or a later one, is durable. */
  save(): Promise<void> {
    return this.#writes.run(this.#file);
  }
}

/**
 * Durable when it resolves. Writes of one file must not overlap. Throws DISK_FULL, DISK_FAILED, and
 * VALUE_OUT_OF_RANGE for a state that the schema refuses or that is too long to be read. Then the
 * file is unchanged.
 */
export async function writeState<Schema extends z.ZodType>(
  file: string,
  schema: Schema,
  state: z.input<Schema>,
): Promise<void> {
  const text = `${JSON.stringify(state)}\n`;
  const bytes = Buffer.from(text);
  if (bytes.length > stateFileBytesMax) {
    const message = `${file} is not written: ${bytes.length} bytes exceed ${stateFileBytesMax}`;
    throw new CodedError('VALUE_OUT_OF_RANGE', message, { details: { file } });
  }
  // Checked in the form in which it will be read: JSON omits undefined values, and turns numbers
  // that are not finite into null.
  const checked = schema.safeParse(JSON.parse(text));
  if (!checked.success) {
    const message = `${file} is not written: ${z.prettifyError(checked.error)}`;
    throw new CodedError('VALUE_OUT_OF_RANGE', message, { details: { file } });
  }
  await replaceState(file, bytes);
}

/** For content other than JSON: durable when it resolves. Throws DISK_FULL, DISK_FAILED. */
export async function replaceState(file: string, bytes: Uint8Array): Promise<void> {
  await replaceOwnFile(file, bytes).catch((cause: unknown) => {
    throw notWritten(file, cause);
  });
}

function notWritten(file: string, cause: unknown): unknown {
  if (!isDiskFull(cause)) return diskError(cause) ?? cause;
  return new CodedError('DISK_FULL', `${file} cannot be written: no space is left on the disk`, {
    hint: 'free space on the disk: the server then continues by itself',
    details: { file },
    cause,
  });
}

/** Returns the parsed text, or null if there is no such file. Throws DISK_FAILED. */
export async function readIfThere<T>(file: string, parse: (text: string) => T): Promise<T | null> {
  let text: string;
  try {
    text = String(await readRegularFile(file, stateFileBytesMax));
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return null;
    throw unreadable(file, cause);
  }
  try {
    return parse(text);
  } catch (cause) {
    throw unreadable(file, cause);
  }
}

function unreadable(file: string, cause: unknown): CodedError {
  const isForm = cause instanceof z.ZodError;
  const reason = isForm ? z.prettifyError(cause).replaceAll('\n', ' ') : messageOf(cause);
  const byHand =
    diskError(cause)?.hint ?? 'the disk is damaged, or the file was edited: restore the file';
  return new CodedError('DISK_FAILED', `${file} cannot be read: ${reason}`, {
    hint: isForm ? `if a newer release ran here, start that one again; else ${byHand}` : byHand,
    details: { file },
    cause,
  });
}
