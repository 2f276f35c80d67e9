// The chain of roots of a cluster: from a trusted root to the newest, one by one. Pure.
// As in TUF, root v + 1 carries the signature threshold of root v, so that the old keys hand over,
// and its own, which proves that somebody has the new keys.
import { CodedError } from '@ringwright/base/coded-error';
import { trustFileBytesMax, trustLifeDaysMax, trustRootsMax } from '@ringwright/base/limits';
import { parseJson, whyNotJson, windowsLineEnds } from '@ringwright/base/parse-json';
import { sha256 } from '@ringwright/base/sha256';
import { z } from 'zod';
import { signersOf } from './dsse.ts';
import {
  payloadOf,
  printSigned,
  type SignedDocument,
  signedDocumentSchema,
} from './signed-document.ts';
import { decodeRoot, type Trust, trustInvalid, trustRootType } from './trust-root.ts';

const FORMAT = 1;

const fileSchema = z.strictObject({
  format: z.literal(FORMAT),
  roots: z.array(signedDocumentSchema).min(1).max(trustRootsMax),
});

/** Returns trust.json: one root a line, oldest first; equal chains give equal bytes. */
export function printTrustFile(roots: readonly SignedDocument[]): string {
  return `{"format":${FORMAT},"roots":[\n${roots.map(printSigned).join(',\n')}\n]}\n`;
}

/** Parses the documents without verifying them. Throws TRUST_INVALID. */
export function parseTrustFile(bytes: Uint8Array): readonly SignedDocument[] {
  if (bytes.length > trustFileBytesMax) {
    throw trustInvalid(`${bytes.length} bytes, at most ${trustFileBytesMax} are allowed`);
  }
  const text = Buffer.from(bytes).toString('utf8');
  const value = parseJson(text, () => trustInvalid(whyNotJson(text)));
  const parsed = fileSchema.safeParse(value);
  if (!parsed.success) throw trustInvalid(z.prettifyError(parsed.error).replaceAll('\n', ' '));
  const { roots } = parsed.data;
  if (!Buffer.from(printTrustFile(roots)).equals(bytes)) {
    throw trustInvalid(text.includes('\r') ? windowsLineEnds : 'is not in canonical form');
  }
  return roots;
}

/** Returns the SHA-256 (hex) of a root's bytes. */
export function rootIdOf(document: SignedDocument): string {
  return sha256(payloadOf(document).bytes);
}

/**
 * Returns every root from the anchor on, each verified with the one before. The anchor is the root
 * with id `anchor`, or, for null, the first root: the caller then trusts the source of the file.
 * Only the newest root counts for rings; the others are history. Does not check expiry: an old root
 * may have expired long ago, which is why there is a newer one. Throws TRUST_INVALID, TRUST_FORK.
 */
export function walkRoots(
  documents: readonly SignedDocument[],
  anchor: string | null,
): readonly [Trust, ...Trust[]] {
  const start = anchor === null ? 0 : documents.findIndex((one) => rootIdOf(one) === anchor);
  const first = documents[start];
  if (first === undefined) {
    const message = `none of ${documents.length} roots has the trusted id ${anchor}`;
    throw new CodedError('TRUST_FORK', message, {
      hint: 'the document belongs to another cluster, or is forged',
      details: { anchor, roots: documents.map(rootIdOf) },
    });
  }
  const chain: [Trust, ...Trust[]] = [openRoot(first, null)];
  for (const document of documents.slice(start + 1)) {
    chain.push(openRoot(document, chain.at(-1) ?? null));
  }
  return chain;
}

/**
 * Verifies the signatures of `previous` before it parses any byte of the root. A root contains its
 * own keys, so a first root is parsed before its own signatures are verified. That is safe because
 * an operator supplied its file or its id.
 */
function openRoot(document: SignedDocument, previous: Trust | null): Trust {
  const payload = payloadOf(document);
  if (payload.type !== trustRootType) throw trustInvalid(`has payload type ${payload.type}`);
  const { signatures } = document;
  const byPrevious =
    previous === null ? new Set<string>() : signersOf(payload, signatures, previous.keys.root);
  if (previous !== null) requireThreshold(previous, byPrevious, 'the previous root');
  const trust = decodeRoot(payload.bytes);
  const byItself = signersOf(payload, signatures, trust.keys.root);
  requireThreshold(trust, byItself, 'itself');
  if (previous !== null) requireSuccession(previous, trust);
  // A pinned root in mid-chain carries signatures of keys unknown here; its id vouches for it.
  if (previous === null && trust.root.version > 1) return trust;
  const good = new Set([...byPrevious, ...byItself]);
  const ids = new Set(signatures.map(({ keyid }) => keyid));
  // Every signature must be valid, so that an edited one is found even if enough others are valid.
  if (ids.size < signatures.length || [...ids].some((id) => !good.has(id))) {
    throw trustInvalid(`root ${trust.root.version} has an unexpected signature`);
  }
  return trust;
}

function requireThreshold(by: Trust, signers: ReadonlySet<string>, whose: string): void {
  const { threshold } = by.root.roles.root;
  if (signers.size >= threshold) return;
  const sentence = `${signers.size} valid signatures of ${whose}, ${threshold} needed`;
  throw trustInvalid(`a root has ${sentence}`, { found: signers.size, threshold });
}

function requireSuccession({ root: before }: Trust, { root: after }: Trust): void {
  if (after.version !== before.version + 1) {
    throw trustInvalid(`root ${after.version} follows root ${before.version}`);
  }
  if (after.cluster !== before.cluster) {
    throw trustInvalid(`a root of cluster '${after.cluster}' follows one of '${before.cluster}'`);
  }
  if (after.epoch < before.epoch) {
    throw trustInvalid(`epoch ${after.epoch} follows epoch ${before.epoch}`);
  }
}

/** Returns the newest root of the chain. Throws TRUST_INVALID, TRUST_FORK. */
export function newestRoot(documents: readonly SignedDocument[], anchor: string | null): Trust {
  const walked = walkRoots(documents, anchor);
  return walked[walked.length - 1] ?? walked[0];
}

/** Throws TRUST_EXPIRED. Then no new rings are accepted under this root; active ones stay. */
export function requireUnexpired({ root, id }: Trust, nowMs: number): void {
  if (nowMs < Date.parse(root.expires)) return;
  const message = `root ${root.version} of cluster '${root.cluster}' expired at ${root.expires}`;
  throw new CodedError('TRUST_EXPIRED', message, {
    hint: `ring-builder key trust --days ${trustLifeDaysMax} creates the next root; then push it to the servers`,
    details: { root: id, expires: root.expires },
  });
}
