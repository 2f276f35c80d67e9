// ring-builder key protect: a passphrase for private keys that have none, such as those of create.
import { listKeys, protectKey } from '@ringwright/repository/signing-key';
import type { Answer, Context } from '../../cli/verb.ts';

/** All keys here, when no name is given. */
export async function protectAnswer(context: Context, names: readonly string[]): Promise<Answer> {
  const { folder, passphrase } = context.keys;
  const wanted = names.length > 0 ? names : (await listKeys(folder)).map(({ name }) => name);
  const done: string[] = [];
  for (const name of wanted) {
    if (await protectKey(folder, name, () => passphrase('create'))) done.push(name);
  }
  const none = `no key in ${folder} was without a passphrase`;
  return {
    json: { folder, protected: done, changed: done.length > 0 },
    lines: [done.length === 0 ? none : `encrypted in ${folder}: ${done.join(', ')}`],
    next: context.next('key list'),
  };
}
