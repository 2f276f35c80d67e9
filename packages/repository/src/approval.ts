// Decides whether a version may be pushed to servers: signed by enough keys, or waiting. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { splitRingFile } from '@ringwright/ring/file/ring-container';
import { ringPayloadType } from '@ringwright/ring/file/ring-envelope';
import { signaturesNeeded } from '@ringwright/ring/trust/authenticate-ring';
import { signersOf } from '@ringwright/ring/trust/dsse';
import { keyIdOf } from '@ringwright/ring/trust/public-key';
import type { Trust } from '@ringwright/ring/trust/trust-root';
import type { StoredVersion } from './folder/read-version.ts';

export interface Approval {
  /** False also for signatures of an earlier epoch: no server accepts them under the newest root. */
  readonly signed: boolean;
  /** Names of the newest root's ring keys that have signed the version. */
  readonly signers: readonly string[];
  readonly needed: number;
  /** Signatures still missing; 0 for an unsigned version in an unsigned folder. */
  readonly missing: number;
}

export function approvalOf(
  version: Pick<StoredVersion, 'bytes' | 'signing'>,
  trust: Trust | null,
): Approval {
  const { bytes, signing } = version;
  if (trust === null) return { signed: signing !== null, signers: [], needed: 0, missing: 0 };
  const { epoch, roles } = trust.root;
  const { threshold } = roles.ring;
  if (signing?.epoch !== epoch)
    return { signed: false, signers: [], needed: threshold, missing: threshold };
  const { signatures, manifest } = splitRingFile(bytes);
  const payload = { type: ringPayloadType, bytes: manifest };
  const found = signersOf(payload, signatures, trust.keys.ring);
  const needed = signaturesNeeded(signing, trust);
  const signers = [...found].map((id) => nameOf(trust, id));
  return { signed: true, signers, needed, missing: Math.max(0, needed - found.size) };
}

/** Throws SIGNATURES_MISSING if servers with --trust would refuse the version. */
export function requireApproved(
  version: Pick<StoredVersion, 'bytes' | 'signing' | 'ring'>,
  trust: Trust | null,
): void {
  const { signed, signers, needed, missing } = approvalOf(version, trust);
  if (missing === 0) return;
  const { keyspace, version: number } = version.ring;
  const signatureText = signed ? `${signers.length} of ${needed} signatures` : 'no valid signature';
  throw new CodedError(
    'SIGNATURES_MISSING',
    `version ${number} of ${keyspace} has ${signatureText}`,
    {
      hint: signed
        ? `another person with a ring key must run: ring-builder sign ${keyspace} ${number}`
        : `ring-builder commit ${keyspace} -m "signed from here on" creates a signed version`,
      details: { ring: keyspace, version: number, signers, needed, missing },
    },
  );
}

/** Returns the name that a root gives the key, or the key's id. */
export function nameOf({ root }: Trust, id: string): string {
  return root.keys.find(({ spki }) => keyIdOf(spki) === id)?.name ?? id;
}
