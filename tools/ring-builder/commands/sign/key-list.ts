// ring-builder key list: lists the trusted keys, and the keys whose private half is here.

import { printTable } from '@ringwright/base/print-table';
import { exists } from '@ringwright/node/missing-file';
import { readTrust } from '@ringwright/repository/folder/trust-file';
import { listKeys } from '@ringwright/repository/signing-key';
import { keyIdOf } from '@ringwright/ring/trust/public-key';
import type { TrustRole } from '@ringwright/ring/trust/trust-root';
import { isAuthorityKey } from '../../certs/authority-name.ts';
import type { Answer, Context } from '../../cli/verb.ts';

interface ListedKey {
  readonly name: string;
  readonly id: string;
  /** Null: the private half is here, but no root names the key. */
  readonly role: TrustRole | null;
  readonly here: boolean;
  /** A key of `certs`: it signs certificates of servers, no rings, and no root names it. */
  readonly authority: boolean;
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
    const isHere = here.some((one) => one.id === id);
    return { name, id, role: role ?? null, here: isHere, authority: false };
  });
  const others = here
    .filter(({ id }) => !trusted.some((one) => one.id === id))
    .map(({ name, id }): ListedKey => {
      return { name, id, role: null, here: true, authority: isAuthorityKey(name) };
    });
  const keys = [...trusted, ...others];
  // The keys belong to rings elsewhere, so a second root is not suggested.
  const isElsewhere = here.length > 0 && !(await exists(context.rings));
  const [line, next] =
    trust !== null
      ? [`root ${trust.root.version} (${trust.id})`, 'key trust']
      : isElsewhere
        ? [`${context.rings} is not there: --rings DIR names a folder`, 'key list --rings DIR']
        : ['rings here are unsigned', 'key generate'];
  return {
    json: { signed: root !== null, root: trust?.id ?? null, folder: context.keys.folder, keys },
    lines: [
      ...printTable(keys, [
        { head: 'KEY', cell: ({ name }) => name },
        { head: 'ID', cell: ({ id }) => id.slice(0, 12) },
        { head: 'ROLE', cell: roleText },
        { head: 'PRIVATE HALF', cell: (key) => (key.here ? 'here' : 'elsewhere') },
      ]),
      line,
    ],
    next: context.next(next),
  };
}

function roleText({ role, authority }: ListedKey): string {
  return role ?? (authority ? 'TLS certificates: certs list' : 'none: not trusted');
}
