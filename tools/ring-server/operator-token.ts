// The token that `inspect` shows to a running server: what ring-builder would show to it.
import { parseToken, tokenText } from '@ringwright/access/token';
import { CodedError } from '@ringwright/base/coded-error';
import { accessFileBytesMax } from '@ringwright/base/limits';
import { readPrivateFile } from '@ringwright/node/read-regular-file';

/**
 * Of --token-file, else of RING_BUILDER_TOKEN_FILE or RING_BUILDER_TOKEN; null: none was given.
 * Throws USAGE for what is no token, FILE_UNFIT for a file that others may read.
 */
export async function operatorToken(
  option: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | null> {
  // Empty words of the environment come of unset variables in scripts.
  const file = option ?? (env['RING_BUILDER_TOKEN_FILE'] || null);
  const word = file === null ? (env['RING_BUILDER_TOKEN'] ?? '') : await readToken(file);
  if (file === null && word === '') return null;
  const token = parseToken(word.trim());
  if (token !== null) return tokenText(token);
  const where = file ?? 'RING_BUILDER_TOKEN';
  throw new CodedError('USAGE', `${where} holds no token: wanted NAME.SECRET`, {
    hint: 'ring-builder access grant NAME --operator --metrics --out FILE writes one',
  });
}

async function readToken(file: string): Promise<string> {
  try {
    return String(await readPrivateFile(file, accessFileBytesMax));
  } catch (cause) {
    if (cause instanceof CodedError) throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new CodedError('USAGE', `the token file cannot be read: ${why}`, { cause });
  }
}
