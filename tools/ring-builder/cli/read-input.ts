// Files that operators name, read whole: absent, special and oversized ones get a sentence.
import { CodedError } from '@ringwright/base/coded-error';
import { readBounded, readRegularFile } from '@ringwright/node/read-regular-file';
import { usage } from './arguments.ts';

/**
 * `path`: `-` and /dev/stdin are what is piped in. `name`: what messages call it.
 * Throws USAGE when it cannot be read, FILE_UNFIT.
 */
export async function readInput(
  path: string,
  { bytesMax, name = path }: { readonly bytesMax: number; readonly name?: string },
): Promise<Buffer> {
  try {
    if (path === '-' || path === '/dev/stdin') {
      return await readBounded(process.stdin, 'stdin', bytesMax);
    }
    return await readRegularFile(path, bytesMax);
  } catch (error) {
    if (error instanceof CodedError) throw error;
    throw usage(`${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
