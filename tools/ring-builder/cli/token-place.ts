// What is shown to servers: the operator's token or a client certificate, of an option or of the
// environment. No option takes a token itself: it would be in the list of processes.
import { parseToken, tokenText } from '@ringwright/access/token';
import { CodedError } from '@ringwright/base/coded-error';
import { accessFileBytesMax } from '@ringwright/base/limits';
import type { TlsIdentity } from '@ringwright/node/link/prove-server';
import { readPrivateFile } from '@ringwright/node/read-regular-file';
import { type Arguments, optionalText } from './arguments.ts';

/** Null: none was given. Throws USAGE for what is no token, FILE_UNFIT for a file others may read. */
export async function tokenToShow(
  args: Arguments,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | null> {
  // Empty words of the environment come of unset variables in scripts.
  const file = optionalText(args, 'token-file') ?? (env['RING_BUILDER_TOKEN_FILE'] || null);
  const word =
    file === null ? (env['RING_BUILDER_TOKEN'] ?? '') : await readShown(file, 'token file');
  if (file === null && word === '') return null;
  const token = parseToken(word.trim());
  if (token !== null) return tokenText(token);
  const where = file ?? 'RING_BUILDER_TOKEN';
  throw new CodedError('USAGE', `${where} holds no token: wanted NAME.SECRET`, {
    hint: 'ring-builder access grant NAME --operator --metrics --out FILE writes one',
  });
}

/** A key with its certificate in one file, as certs issue writes it. Throws USAGE, FILE_UNFIT. */
export async function identityToShow(file: string | undefined): Promise<TlsIdentity | null> {
  if (file === undefined || file === '') return null;
  const text = String(await readShown(file, 'client certificate'));
  const at = text.indexOf('-----BEGIN CERTIFICATE-----');
  const isWhole = at !== -1 && text.includes('PRIVATE KEY-----');
  if (isWhole) return { key: text, cert: text.slice(at) };
  throw new CodedError('USAGE', `--client-cert ${file} holds no key with its certificate`, {
    hint: 'ring-builder certs issue NAME --role operator writes one',
  });
}

async function readShown(file: string, what: string): Promise<string> {
  return String(
    await readPrivateFile(file, accessFileBytesMax).catch((cause: unknown) => {
      if (cause instanceof CodedError) throw cause;
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new CodedError('USAGE', `the ${what} cannot be read: ${why}`, { cause });
    }),
  );
}
