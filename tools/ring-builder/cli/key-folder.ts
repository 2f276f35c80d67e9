// Where private keys lie and which passphrase opens them: from options, the environment or a
// prompt.
import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { accessFileBytesMax } from '@ringwright/base/limits';
import { nullIfMissing } from '@ringwright/node/missing-file';
import { requirePrivate } from '@ringwright/node/read-regular-file';
import type { Arguments } from './arguments.ts';
import type { KeyFolder } from './command.ts';
import { readInput } from './read-input.ts';

/** No option takes the passphrase itself, because the list of processes would show it. */
export async function keyFolder(
  args: Arguments,
  env: Readonly<Record<string, string | undefined>>,
  askPassphrase: (use: { readonly isNew: boolean }) => Promise<string | null>,
): Promise<KeyFolder> {
  const file = args.optionalText('passphrase-file');
  const known =
    file === undefined ? (env['RING_BUILDER_PASSPHRASE'] ?? null) : await readPassphrase(file);
  const folder = args.optionalText('key-folder') ?? env['RING_BUILDER_KEYS'] ?? keysAtHome();
  let typed: Promise<string | null> | null = null;
  return {
    folder,
    name: args.optionalText('sign-as') ?? null,
    passphrase: async (use) =>
      known ??
      (use === 'given' ? null : await (typed ??= askPassphrase({ isNew: use === 'create' }))),
  };
}

function keysAtHome(): string {
  return join(homeOrRoot(), '.config', 'ringwright', 'keys');
}

/** A user id without an account has no home directory; containers then set it to /. */
function homeOrRoot(): string {
  try {
    return homedir();
  } catch {
    return '/';
  }
}

/**
 * A pipe from a shell cannot be read by other users, so only a file must be private. Throws USAGE,
 * FILE_UNFIT.
 */
async function readPassphrase(file: string): Promise<string> {
  const found = await stat(file).catch(nullIfMissing);
  if (found?.isFile() === true) requirePrivate(file, found);
  const name = `--passphrase-file ${file}`;
  const content = await readInput(file, { bytesMax: accessFileBytesMax, name });
  return content.toString('utf8').replace(/\r?\n$/, '');
}
