// Where the operator's token is: an option, then the environment. A token on the command line would
// be in the list of processes, so no option takes it itself.
import { parseToken, tokenText } from '@ringwright/access/token';
import { CodedError } from '@ringwright/base/coded-error';
import { accessFileBytesMax } from '@ringwright/base/limits';
import { readPrivateFile } from '@ringwright/node/read-regular-file';
import { type Arguments, optionalText } from './arguments.ts';

/** Null: none was given. Throws USAGE for what is no token, FILE_UNFIT for a file others may read. */
export async function tokenToShow(
  args: Arguments,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | null> {
  // Empty words of the environment come of unset variables in scripts.
  const file = optionalText(args, 'token-file') ?? (env['RING_BUILDER_TOKEN_FILE'] || null);
  const word = file === null ? (env['RING_BUILDER_TOKEN'] ?? '') : await readTokenFile(file);
  if (file === null && word === '') return null;
  const token = parseToken(word.trim());
  if (token !== null) return tokenText(token);
  const where = file ?? 'RING_BUILDER_TOKEN';
  throw new CodedError('USAGE', `${where} holds no token: wanted NAME.SECRET`, {
    hint: 'ring-builder access grant NAME --operator --metrics --out FILE writes one',
  });
}

async function readTokenFile(file: string): Promise<string> {
  return String(
    await readPrivateFile(file, accessFileBytesMax).catch((cause: unknown) => {
      if (cause instanceof CodedError) throw cause;
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new CodedError('USAGE', `the token file cannot be read: ${why}`, { cause });
    }),
  );
}
