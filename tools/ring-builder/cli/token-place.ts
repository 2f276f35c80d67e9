// The credentials shown to servers, from options or the environment: the operator's token or a
// client certificate.
import { shownToken } from '@ringwright/access/shown-token';
import { CodedError } from '@ringwright/base/coded-error';
import { accessFileBytesMax } from '@ringwright/base/limits';
import type { TlsIdentity } from '@ringwright/node/link/prove-server';
import { readPrivateFile, unreadable } from '@ringwright/node/read-regular-file';
import type { Arguments } from './arguments.ts';

/**
 * Returns null if there is no token. Throws USAGE for an invalid token, FILE_UNFIT for a file that
 * other users may read.
 */
export async function tokenToShow(
  args: Arguments,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | null> {
  const read = (file: string): Promise<string> => readShown(file, 'the token file');
  return shownToken(args.optionalText('token-file'), env, read);
}

/**
 * Reads a key and its certificate from one file, as `certs issue` writes it. Throws USAGE,
 * FILE_UNFIT.
 */
export async function identityToShow(file: string | undefined): Promise<TlsIdentity | null> {
  if (file === undefined || file === '') return null;
  const text = await readShown(file, 'the client certificate');
  const certOffset = text.indexOf('-----BEGIN CERTIFICATE-----');
  const isWhole = certOffset !== -1 && text.includes('PRIVATE KEY-----');
  if (isWhole) return { key: text, cert: text.slice(certOffset) };
  throw new CodedError(
    'USAGE',
    `--client-cert ${file} does not contain a key and its certificate`,
    {
      hint: 'ring-builder certs issue NAME --role operator creates one',
    },
  );
}

async function readShown(file: string, what: string): Promise<string> {
  return String(await readPrivateFile(file, accessFileBytesMax).catch(unreadable(what)));
}
