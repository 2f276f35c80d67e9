// Where private keys lie and what opens them: options first, then the environment, read once.
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type Arguments, optionalText } from './arguments.ts';
import type { KeysPlace } from './verb.ts';

/** A passphrase on the command line would be in the list of processes, so there is no option. */
export async function keysPlace(
  args: Arguments,
  env: Readonly<Record<string, string | undefined>>,
): Promise<KeysPlace> {
  const file = optionalText(args, 'passphrase-file');
  const passphrase =
    file === undefined
      ? (env['RING_BUILDER_PASSPHRASE'] ?? null)
      : (await readFile(file, 'utf8')).replace(/\r?\n$/, '');
  const folder = optionalText(args, 'key-folder') ?? env['RING_BUILDER_KEYS'] ?? keysAtHome();
  return { folder, name: optionalText(args, 'sign-as') ?? null, passphrase };
}

function keysAtHome(): string {
  return join(homeOrRoot(), '.config', 'ringwright', 'keys');
}

/** A user id without an account has no home; containers then say that it is /. */
function homeOrRoot(): string {
  try {
    return homedir();
  } catch {
    return '/';
  }
}
