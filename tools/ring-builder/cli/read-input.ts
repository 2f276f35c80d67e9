// Reads whole files that operators name. A missing, special or oversized file gives a clear error.
import { CodedError } from '@ringwright/base/coded-error';
import { codeOf, messageOf } from '@ringwright/base/thrown';
import { readBounded, readRegularFile } from '@ringwright/node/read-regular-file';
import { usage } from './arguments.ts';

/**
 * `path`: `-` and /dev/stdin mean standard input. `name`: what messages call the file. Throws USAGE
 * if it cannot be read, FILE_UNFIT.
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
    throw usage(`${name}: ${whyOf(error)}`);
  }
}

function whyOf(error: unknown): string {
  const code = codeOf(error);
  if (code === 'ENOENT') return 'no such file';
  return code === 'EACCES' ? 'this user has no permission to read it' : messageOf(error);
}
