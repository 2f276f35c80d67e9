// Files that operators name: read whole, unless they are absent or larger than they may be.
import { readFile, stat } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { CodedError } from '@ringwright/base/coded-error';
import { swiftPayloadBytesMax } from '@ringwright/base/limits';
import { usage } from './arguments.ts';

/** `-` is stdin. Throws USAGE when it cannot be read, SWIFT_FILE_TOO_LARGE. */
export async function readInput(path: string): Promise<Buffer> {
  if (path === '-') return buffer(process.stdin);
  try {
    const { size } = await stat(path);
    if (size <= swiftPayloadBytesMax) return await readFile(path);
    throw new CodedError(
      'SWIFT_FILE_TOO_LARGE',
      `${path} has ${size} bytes, at most ${swiftPayloadBytesMax}`,
      { details: { path, size, max: swiftPayloadBytesMax } },
    );
  } catch (error) {
    if (error instanceof CodedError) throw error;
    throw usage(`${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
