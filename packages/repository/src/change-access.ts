// Makes the next signed access document of a rings folder, or adds a signature to the present one.
import type { KeyObject } from 'node:crypto';
import { type AccessDocument, accessPayload } from '@ringwright/access/access-document';
import type { AccessChange } from '@ringwright/access/change-access';
import { must } from '@ringwright/base/assert';
import { CodedError } from '@ringwright/base/coded-error';
import { signPayload } from '@ringwright/ring/trust/dsse';
import { payloadOf, signedDocument } from '@ringwright/ring/trust/signed-document';
import { requireUnexpired } from '@ringwright/ring/trust/trust-chain';
import { requireRingKey } from './encode-version.ts';
import { accessPath, type RingsAccess, readAccess, writeAccess } from './folder/access-file.ts';
import { requireTrust } from './folder/trust-file.ts';
import { withTrustLock } from './rotate-trust.ts';
import type { Author } from './write-ring.ts';

interface Given {
  readonly key: KeyObject | undefined;
  /** The change in a few words, for lists and logs. */
  readonly change: string;
  readonly next: (before: AccessDocument | null, change: AccessChange) => AccessDocument;
}

/** Throws TRUST_UNKNOWN, TRUST_EXPIRED, SIGNING_KEY_UNKNOWN, LOCK_HELD and what `next` throws. */
export function changeAccess(rings: string, author: Author, wanted: Given): Promise<RingsAccess> {
  return withTrustLock(rings, author, async () => {
    const { trust } = await requireTrust(rings);
    const ms = Date.parse(author.time);
    requireUnexpired(trust, ms);
    const key = requireRingKey(trust, wanted.key);
    const before = (await readAccess(rings, trust))?.document ?? null;
    const { cluster, epoch } = trust.root;
    const about = { cluster, epoch, by: author.user, ms, change: wanted.change };
    const payload = accessPayload(wanted.next(before, about));
    await writeAccess(rings, signedDocument(payload, [signPayload(key, payload)]));
    return must(await readAccess(rings, trust), 'it was just written');
  });
}

/** Adds a signature, if rings need several. Throws as changeAccess, and ACCESS_UNKNOWN. */
export function signAccess(
  rings: string,
  author: Author,
  ringKey: KeyObject | undefined,
): Promise<RingsAccess> {
  return withTrustLock(rings, author, async () => {
    const { trust } = await requireTrust(rings);
    const key = requireRingKey(trust, ringKey);
    const { file } = await requireAccess(rings);
    const payload = payloadOf(file);
    const added = signPayload(key, payload);
    const others = file.signatures.filter(({ keyid }) => keyid !== added.keyid);
    await writeAccess(rings, signedDocument(payload, [...others, added]));
    return requireAccess(rings);
  });
}

/** Throws ACCESS_UNKNOWN, TRUST_UNKNOWN. */
export async function requireAccess(rings: string): Promise<RingsAccess> {
  const { trust } = await requireTrust(rings);
  const found = await readAccess(rings, trust);
  if (found !== null) return found;
  throw new CodedError('ACCESS_UNKNOWN', `${accessPath(rings)} is not there`, {
    hint:
      'where nobody was granted anything yet, all may do all: ring-builder access grant NAME ' +
      '--operator --out FILE makes the first token; else get it back first, from git, or as ' +
      'trust/access.json of the data directory of a server',
  });
}
