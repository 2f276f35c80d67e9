// Adds a signature to an existing version. Its id stays the same, and the log says who signed.
import type { KeyObject } from 'node:crypto';
import { CodedError } from '@ringwright/base/coded-error';
import { replaceDurably } from '@ringwright/node/durable-files';
import { withSignatures } from '@ringwright/ring/file/ring-container';
import { signPayload } from '@ringwright/ring/trust/dsse';
import { requireUnexpired } from '@ringwright/ring/trust/trust-chain';
import { appendNote } from './append-log.ts';
import { type Approval, approvalOf, nameOf } from './approval.ts';
import { requireRingKey, ringPayload } from './encode-version.ts';
import { makesVersion } from './folder/log-entry.ts';
import { readVersionFile, requireLogged } from './folder/read-version.ts';
import { versionPath } from './folder/ring-folder.ts';
import { requireTrust } from './folder/trust-file.ts';
import { requireAnySignature } from './require-signed-head.ts';
import { type Author, writeRing } from './write-ring.ts';

interface SignedVersion extends Approval {
  readonly id: string;
  /** False if this key had signed it before. */
  readonly changed: boolean;
}

/**
 * Adds a signature to a version, also after a key rotation; signatures of revoked keys stay as
 * history. A crash leaves the file signed, with or without the note in the log; without it, the
 * same call adds the note, and publishes the signature if the head is shared. Throws RING_UNKNOWN,
 * LOCK_HELD, TRUST_UNKNOWN, TRUST_EXPIRED, SIGNING_KEY_UNKNOWN, SIGNATURES_MISSING if the version
 * was made unsigned or without a ring key, RING_FILE_INVALID if the log names another version file.
 */
export async function signVersion(
  location: { readonly rings: string; readonly ring: string },
  author: Author,
  { version, key: signingKey }: { readonly version: number; readonly key: KeyObject },
): Promise<SignedVersion> {
  return writeRing(location, author, async (ring) => {
    const { trust, roots } = await requireTrust(location.rings);
    requireUnexpired(trust, Date.parse(author.time));
    const key = requireRingKey(trust, signingKey);
    const stored = await readVersionFile(ring.folder, version);
    const versionEntry = ring.log.entries.find(
      (one) => makesVersion(one) && one.version === version,
    );
    const path = versionPath(ring.folder, version);
    if (versionEntry !== undefined)
      requireLogged(stored, versionEntry, { ring: location.ring, path });
    const { id, bytes, signing, signatures } = stored;
    if (signing?.epoch !== trust.root.epoch) throw unsigned(location.ring, version);
    requireAnySignature(ring.folder, stored, roots);
    const added = signPayload(key, ringPayload(bytes));
    const otherSignatures = signatures.filter(({ keyid }) => keyid !== added.keyid);
    const isAdded = otherSignatures.length < signatures.length;
    // A signature without its note was interrupted, and other working copies do not have it.
    const isNoted = ring.log.entries.some(
      (one) => one.id === id && one.details['signer'] === added.keyid,
    );
    if (isAdded && isNoted) return { ...approvalOf(stored, trust), id, changed: false };
    const next = withSignatures(bytes, [...otherSignatures, added]);
    await replaceDurably(path, next);
    await appendNote(
      ring,
      { version, id },
      {
        ...author,
        kind: 'sign',
        message: `signed by ${nameOf(trust, added.keyid)}`,
        commands: [],
        details: { signer: added.keyid },
      },
    );
    return { ...approvalOf({ ...stored, bytes: next }, trust), id, changed: true };
  });
}

function unsigned(ring: string, version: number): CodedError {
  const message = `version ${version} of ${ring} was made before the root of trust, or its epoch`;
  return new CodedError('SIGNATURES_MISSING', message, {
    hint: `ring-builder commit ${ring} -m "signed from here on" creates a signed version of it`,
    details: { ring, version },
  });
}
