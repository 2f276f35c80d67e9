// ring-builder key list: the keys that count, and those whose private half is here.

import { printTable } from '@ringwright/base/print-table';
import { readTrust } from '@ringwright/repository/folder/trust-file';
import { listKeys } from '@ringwright/repository/signing-key';
import { keyIdOf } from '@ringwright/ring/trust/public-key';
import type { TrustRole } from '@ringwright/ring/trust/trust-root';
import type { Answer, Context } from '../../cli/verb.ts';

interface ListedKey {
  readonly name: string;
  readonly id: string;
  /** Null: its private half is here, but no root names it. */
  readonly role: TrustRole | null;
  readonly here: boolean;
}

export async function listAnswer(context: Context): Promise<Answer> {
  const here = await listKeys(context.keys.folder);
  const trust = (await readTrust(context.rings))?.trust ?? null;
  const root = trust?.root ?? null;
  const trusted: ListedKey[] = (root?.keys ?? []).map(({ name, spki }) => {
    const id = keyIdOf(spki);
    const role = (['root', 'ring', 'beacon'] as const).find((one) =>
      root?.roles[one].keys.includes(id),
    );
    return { name, id, role: role ?? null, here: here.some((one) => one.id === id) };
  });
  const others = here
    .filter(({ id }) => !trusted.some((one) => one.id === id))
    .map(({ name, id }): ListedKey => ({ name, id, role: null, here: true }));
  const keys = [...trusted, ...others];
  return {
    json: { signed: root !== null, root: trust?.id ?? null, folder: context.keys.folder, keys },
    lines: [
      ...printTable(keys, [
        { head: 'KEY', cell: ({ name }) => name },
        { head: 'ID', cell: ({ id }) => id.slice(0, 12) },
        { head: 'ROLE', cell: ({ role }) => role ?? 'none: not trusted' },
        { head: 'PRIVATE HALF', cell: (key) => (key.here ? 'here' : 'elsewhere') },
      ]),
      trust === null ? 'rings here are unsigned' : `root ${trust.root.version} (${trust.id})`,
    ],
    next: context.next(root === null ? 'key generate' : 'key trust'),
  };
}
