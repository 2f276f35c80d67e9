// The token that a program shows to servers, from an option or the environment. No option takes a
// token itself: it would appear in the list of processes.
import { CodedError } from '@ringwright/base/coded-error';
import { parseToken, tokenText } from './token.ts';

/**
 * Returns the token from the named file, else from RING_BUILDER_TOKEN_FILE or RING_BUILDER_TOKEN;
 * null: none is set. Throws USAGE for an invalid token, and what `read` throws.
 */
export async function shownToken(
  named: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
  read: (file: string) => Promise<string>,
): Promise<string | null> {
  // Unset variables in scripts give empty values in the environment.
  const file = named ?? (env['RING_BUILDER_TOKEN_FILE'] || null);
  const word = file === null ? (env['RING_BUILDER_TOKEN'] ?? '') : await read(file);
  if (file === null && word === '') return null;
  const token = parseToken(word.trim());
  if (token !== null) return tokenText(token);
  const where = file ?? 'RING_BUILDER_TOKEN';
  throw new CodedError('USAGE', `${where} contains no token: expected NAME.SECRET`, {
    hint: 'ring-builder access grant NAME --operator --metrics --out FILE writes one',
  });
}
