// Checks that trusted keys signed a ring file, over raw bytes, before anything is parsed. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { splitRingFile } from '../file/ring-container.ts';
import { ringPayloadType } from '../file/ring-envelope.ts';
import { decodeManifest, type Manifest, type Signing } from '../file/ring-manifest.ts';
import { signersOf } from './dsse.ts';
import { requireUnexpired } from './trust-chain.ts';
import type { Trust } from './trust-root.ts';

export interface AuthenticRing {
  readonly trust: Trust;
  readonly signing: Signing;
  /** Ids of the ring keys that signed it. */
  readonly signers: readonly string[];
}

/**
 * Before the signatures are verified, reads only the lengths and the envelope of `bytes`. Does not
 * read the sections. Throws RING_FILE_INVALID, RING_FORMAT_UNKNOWN, RING_TOO_LARGE,
 * SIGNATURES_MISSING, RING_FOREIGN, RING_EPOCH_WRONG, BRAKE, TRUST_EXPIRED.
 */
export function authenticateRing(
  bytes: Uint8Array,
  trusts: readonly Trust[],
  nowMs: number,
): AuthenticRing {
  const { signatures, manifest: raw } = splitRingFile(bytes);
  const payload = { type: ringPayloadType, bytes: raw };
  const signed = trusts.map((trust) => ({
    trust,
    signers: signersOf(payload, signatures, trust.keys.ring),
  }));
  const enough = signed.filter(
    ({ trust, signers }) => signers.size >= trust.root.roles.ring.threshold,
  );
  if (enough.length === 0) throw signaturesMissing(signed, signatures.length);
  const manifest = decodeManifest(raw);
  const found = enough.find(({ trust }) => trust.root.cluster === manifest.cluster);
  const name = `ring '${manifest.keyspace}' version ${manifest.version}`;
  if (found === undefined) {
    const message = `${name} is of cluster '${manifest.cluster}', but not signed with its keys`;
    const clusters = enough.map(({ trust }) => trust.root.cluster);
    throw new CodedError('RING_FOREIGN', message, { details: { clusters } });
  }
  const { trust, signers } = found;
  requireUnexpired(trust, nowMs);
  const { signing } = manifest;
  if (signing === undefined || signing.epoch !== trust.root.epoch) {
    const epoch = signing?.epoch ?? null;
    const message = `${name} is of epoch ${epoch ?? 'none'}; the root is of ${trust.root.epoch}`;
    const hint = 'push a version that was committed since then; it also sends the trust document';
    throw new CodedError('RING_EPOCH_WRONG', message, {
      hint,
      details: { epoch, trusted: trust.root.epoch },
    });
  }
  const needed = signaturesNeeded(signing, trust);
  if (signers.size < needed) throw secondMissing(name, manifest, { found: signers.size, needed });
  return { trust, signing, signers: [...signers] };
}

/** Returns how many ring keys must have signed, given what the manifest declares. */
export function signaturesNeeded(signing: Signing, { root }: Pick<Trust, 'root'>): number {
  const { threshold, large, override } = root.roles.ring;
  const overridden = override && signing.override !== null;
  return signing.large && !overridden ? large : threshold;
}

function signaturesMissing(
  signed: readonly { readonly trust: Trust; readonly signers: ReadonlySet<string> }[],
  carried: number,
): CodedError {
  const best = signed.toSorted((a, b) => b.signers.size - a.signers.size)[0];
  const needed = best?.trust.root.roles.ring.threshold ?? 1;
  const valid = best?.signers.size ?? 0;
  const counted = `${carried} signatures, ${valid} of them valid and from a trusted key`;
  // Tells an operator without trust.json which one to look for.
  const roots = signed.map(({ trust }) => `${trust.id} of cluster '${trust.root.cluster}'`);
  const message = `the ring has ${counted}; ${needed} needed under root ${roots.join(' or ')}`;
  return new CodedError('SIGNATURES_MISSING', message, {
    hint: 'ring-builder sign RING adds one; ring-builder key trust shows the trusted keys',
    details: { carried, valid, needed, roots: signed.map(({ trust }) => trust.id) },
  });
}

function secondMissing(
  name: string,
  { signing }: Manifest,
  { found, needed }: { readonly found: number; readonly needed: number },
): CodedError {
  const message = `${name} is a large change: ${found} valid signatures, ${needed} needed`;
  return new CodedError('BRAKE', message, {
    hint: 'a second person must run ring-builder sign RING',
    details: { found, needed, override: signing?.override ?? null },
  });
}
