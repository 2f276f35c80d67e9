// The token that this server shows to others. It comes from a file, so that no list of processes
// shows it.
import { parseToken, tokenText } from '@ringwright/access/token';
import { CodedError } from '@ringwright/base/coded-error';
import { accessFileBytesMax } from '@ringwright/base/limits';
import { readPrivateFile, unreadable } from '@ringwright/node/read-regular-file';

/** Returns null without a file. Throws USAGE for a file that holds no token, and FILE_UNFIT. */
export async function readServerToken(file: string | undefined): Promise<string | null> {
  if (file === undefined) return null;
  const read = readPrivateFile(file, accessFileBytesMax).catch(unreadable('--token-file'));
  const text = String(await read).trim();
  const token = parseToken(text);
  if (token !== null) return tokenText(token);
  throw new CodedError('USAGE', `--token-file ${file} holds no token`, {
    hint: 'ring-builder access grant NAME --peer --out FILE writes one',
  });
}
