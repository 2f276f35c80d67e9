// The token that `inspect` shows to a running server: what ring-builder would show to it.

import { shownToken } from '@ringwright/access/shown-token';
import { CodedError } from '@ringwright/base/coded-error';
import { accessFileBytesMax } from '@ringwright/base/limits';
import { messageOf } from '@ringwright/base/thrown';
import { readPrivateFile } from '@ringwright/node/read-regular-file';

/** See shownToken. Throws FILE_UNFIT too, for a file that others may read. */
export function operatorToken(
  option: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | null> {
  return shownToken(option, env, readToken);
}

async function readToken(file: string): Promise<string> {
  try {
    return String(await readPrivateFile(file, accessFileBytesMax));
  } catch (cause) {
    if (cause instanceof CodedError) throw cause;
    const why = messageOf(cause);
    throw new CodedError('USAGE', `the token file cannot be read: ${why}`, { cause });
  }
}
