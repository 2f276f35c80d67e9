// Makes the next signed access document of a rings folder, or adds a signature to the present one.
import type { KeyObject } from 'node:crypto';
import { type AccessDocument, accessPayload } from '@ringwright/access/access-document';
import { type AccessChange, inEpoch } from '@ringwright/access/change-access';
import { accessSigners } from '@ringwright/access/open-access';
import { must } from '@ringwright/base/assert';
import { CodedError } from '@ringwright/base/coded-error';
import { signPayload } from '@ringwright/ring/trust/dsse';
import { keyIdOf, spkiOf } from '@ringwright/ring/trust/public-key';
import {
  payloadOf,
  type SignedDocument,
  signedDocument,
} from '@ringwright/ring/trust/signed-document';
import { requireUnexpired } from '@ringwright/ring/trust/trust-chain';
import type { Trust } from '@ringwright/ring/trust/trust-root';
import { requireRingKey } from './encode-version.ts';
import { accessPath, type RingsAccess, readAccess, writeAccess } from './folder/access-file.ts';
import { type RingsTrust, requireTrust } from './folder/trust-file.ts';
import { withTrustLock } from './rotate-trust.ts';
import type { Author } from './write-ring.ts';

interface AccessRequest {
  readonly key: KeyObject | undefined;
  /** The change in a few words, for lists and logs. */
  readonly change: string;
  readonly next: (before: AccessDocument | null, change: AccessChange) => AccessDocument;
}

/**
 * Writes the next access document. Throws TRUST_UNKNOWN, TRUST_EXPIRED, SIGNING_KEY_UNKNOWN,
 * LOCK_HELD, SIGNATURES_MISSING if the present document lacks signatures, and what `next` throws.
 */
export function changeAccess(
  rings: string,
  author: Author,
  request: AccessRequest,
): Promise<RingsAccess> {
  return withTrustLock(rings, author, async () => {
    const { trust } = await requireTrust(rings);
    const ms = Date.parse(author.time);
    requireUnexpired(trust, ms);
    const key = requireRingKey(trust, request.key);
    const present = await readAccess(rings, trust);
    if (present !== null) requireBuildable(present, trust, keyIdOf(spkiOf(key)));
    const before = present?.document ?? null;
    const { cluster, epoch } = trust.root;
    const accessChange = { cluster, epoch, by: author.user, ms, change: request.change };
    const payload = accessPayload(request.next(before, accessChange));
    await writeAccess(rings, signedDocument(payload, [signPayload(key, payload)]));
    return must(await readAccess(rings, trust), 'it was just written');
  });
}

/**
 * Throws SIGNATURES_MISSING unless enough keys, or the key that signs now, have signed the
 * document. Anyone who can write the folder can edit this file without a key, and a change would
 * sign those grants unseen.
 */
function requireBuildable(
  { document, file, needed }: RingsAccess,
  trust: Trust,
  keyId: string,
): void {
  // Also signatures of an earlier epoch: the next document is of the present one.
  const signers = [...accessSigners(file, trust)];
  if (signers.length >= needed || signers.includes(keyId)) return;
  const { version } = document;
  const message = `access document ${version} has ${signers.length} of ${needed} signatures`;
  throw new CodedError('SIGNATURES_MISSING', message, {
    hint:
      'ring-builder access list shows what it grants; if that is right, ring-builder access ' +
      `sign; otherwise ${getItBack}`,
    details: { version, signers, needed },
  });
}

/**
 * Adds a signature, if rings need several. After the epoch was raised, makes the next document with
 * the same tokens. Throws as changeAccess, and ACCESS_UNKNOWN.
 */
export function signAccess(
  rings: string,
  author: Author,
  ringKey: KeyObject | undefined,
): Promise<RingsAccess> {
  return withTrustLock(rings, author, async () => {
    const trusted = await requireTrust(rings);
    const key = requireRingKey(trusted.trust, ringKey);
    const { file, document } = await requireAccess(rings);
    requireOurs(file, document, trusted);
    const { cluster, epoch } = trusted.trust.root;
    const isPresent = document.epoch === epoch;
    const ms = Date.parse(author.time);
    const change = { cluster, epoch, by: author.user, ms, change: `epoch ${epoch}` };
    const payload = isPresent ? payloadOf(file) : accessPayload(inEpoch(document, change));
    const added = signPayload(key, payload);
    const others = isPresent ? file.signatures.filter(({ keyid }) => keyid !== added.keyid) : [];
    await writeAccess(rings, signedDocument(payload, [...others, added]));
    return requireAccess(rings);
  });
}

/**
 * Requires at least one signature: whoever grants signs, so an unsigned document was made without a
 * key. The signature of a key that was revoked since counts, because that document has to be signed
 * again.
 */
function requireOurs(
  file: SignedDocument,
  { version }: AccessDocument,
  { roots }: RingsTrust,
): void {
  if (roots.some((root) => accessSigners(file, root).size > 0)) return;
  const message = `access document ${version} is signed by no ring key of trust.json`;
  throw new CodedError('SIGNATURES_MISSING', message, {
    hint: getItBack,
    details: { version, carried: file.signatures.length },
  });
}

const getItBack =
  'restore it from git, or from trust/access.json in the data directory of a server';

/** Throws ACCESS_UNKNOWN, TRUST_UNKNOWN. */
export async function requireAccess(rings: string): Promise<RingsAccess> {
  const { trust } = await requireTrust(rings);
  const found = await readAccess(rings, trust);
  if (found !== null) return found;
  throw new CodedError('ACCESS_UNKNOWN', `${accessPath(rings)} does not exist`, {
    hint:
      'if nothing was granted yet, anyone may do everything: ring-builder access grant NAME ' +
      '--operator --out FILE creates the first token; otherwise restore it from git, or from ' +
      'trust/access.json of the data directory of a server',
  });
}
