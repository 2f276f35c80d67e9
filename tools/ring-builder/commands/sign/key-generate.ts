// ring-builder key generate: makes a key pair. The first time in a rings folder, it turns signing
// on.
import { readTrust } from '@ringwright/repository/folder/trust-file';
import { generateKey, requireKeyName, requirePassphrase } from '@ringwright/repository/signing-key';
import { type Arguments, optionalText, usage } from '../../cli/arguments.ts';
import type { Answer, Context } from '../../cli/verb.ts';
import {
  beginSigning,
  keyNameOf,
  namesOfKeys,
  requireElsewhere,
} from '../../versions/begin-signing.ts';
import { expiryAfter } from './root-change.ts';

export async function generateAnswer(
  args: Arguments,
  context: Context,
  names: readonly string[],
): Promise<Answer> {
  requireElsewhere(context);
  if (names.length > 1) throw usage(`one key at a time, not ${names.join(' ')}`);
  const name = names[0] ?? keyNameOf(context.user);
  requireKeyName(name); // checked before a passphrase is asked for
  const role = optionalText(args, 'role');
  const trust = await readTrust(context.rings);
  if (trust === null && role === undefined) return turnOn(args, context, name);
  const { folder } = context.keys;
  const passphrase = requirePassphrase(await context.keys.passphrase('create'), name);
  const key = await generateKey(folder, name, passphrase);
  const line = `${role ?? 'ring'}:${name}=${key.spki}`;
  return {
    json: { key: { ...key, role: role ?? 'ring' }, folder, line, changed: true },
    lines: [
      `key ${name} (${key.id.slice(0, 12)}) is in ${folder}; its private half must stay there`,
      `whoever holds the root keys lets it count with: ring-builder key trust --add ${line}`,
    ],
    next: context.next(`key trust --add ${line}`),
  };
}

async function turnOn(args: Arguments, context: Context, name: string): Promise<Answer> {
  const { root, cluster, trust, keys, expires } = await beginSigning(context, name, {
    cluster: optionalText(args, 'cluster'),
    expires: expiryAfter(args, context),
    passphrase: async () => requirePassphrase(await context.keys.passphrase('create'), name),
  });
  const { folder } = context.keys;
  return {
    json: { cluster, root, trust, keys, folder, expires, changed: true },
    lines: [
      `signing is on for cluster '${cluster}': commits are signed by ${name} from now on`,
      `root 1 (${root}) is in ${trust}, good until ${expires}`,
      `keys ${namesOfKeys(keys).join(', ')} are in ${folder}; keep copies of them`,
      `now move ${keys.root.name}.key to a place without network: it is needed to change keys only`,
      `servers: ring-server --trust ${trust} …, or --trust ${root}`,
      'large changes need a second ring key or --override: ring-builder key generate NAME --role ring',
    ],
    next: context.next('key list'),
  };
}
