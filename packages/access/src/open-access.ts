// Verifies an access document: trusted signatures, checked on the raw bytes before they are parsed,
// and whether it may follow the document in force. Also authenticates tokens. Pure.
import { timingSafeEqual } from 'node:crypto';
import { CodedError } from '@ringwright/base/coded-error';
import { signersOf } from '@ringwright/ring/trust/dsse';
import { payloadOf, type SignedDocument } from '@ringwright/ring/trust/signed-document';
import { requireUnexpired } from '@ringwright/ring/trust/trust-chain';
import type { Trust } from '@ringwright/ring/trust/trust-root';
import {
  type AccessDocument,
  accessIdOf,
  accessInvalid,
  decodeAccess,
  type GrantedToken,
  parseAccessFile,
} from './access-document.ts';
import { type Token, tokenHash } from './token.ts';

/** A document whose signatures are valid, ready for lookups. */
export interface Access {
  readonly document: AccessDocument;
  readonly id: string;
  /** The original bytes, including signatures. */
  readonly bytes: Uint8Array;
  readonly tokens: ReadonlyMap<string, GrantedToken>;
}

/**
 * Ring keys sign the document, as many as a ring version needs: whoever may replace all servers of
 * a ring may decide who reads it. Throws ACCESS_INVALID, TRUST_EXPIRED.
 */
export function openAccess(bytes: Uint8Array, trusts: readonly Trust[], nowMs: number): Access {
  const file = parseAccessFile(bytes);
  const payload = payloadOf(file);
  const signingTrusts = trusts.filter((trust) => {
    return accessSigners(file, trust).size >= trust.root.roles.ring.threshold;
  });
  if (signingTrusts.length === 0) {
    const roots = trusts.map(({ id, root }) => `${id} of cluster '${root.cluster}'`);
    throw accessInvalid(`it lacks valid signatures of ring keys under root ${roots.join(' or ')}`, {
      carried: file.signatures.length,
    });
  }
  const document = decodeAccess(file);
  const trust = signingTrusts.find(({ root }) => root.cluster === document.cluster);
  if (trust === undefined) throw accessInvalid(`it belongs to cluster '${document.cluster}'`);
  requireUnexpired(trust, nowMs);
  if (document.epoch !== trust.root.epoch) {
    throw accessInvalid(`it has epoch ${document.epoch}, the root has epoch ${trust.root.epoch}`);
  }
  return { document, id: accessIdOf(payload), bytes, tokens: byId(document) };
}

/** The number of ring keys that signed it, under the trust with the most of them. */
export function signersOfAccess(bytes: Uint8Array, trusts: readonly Trust[]): number {
  const file = parseAccessFile(bytes);
  return Math.max(0, ...trusts.map((trust) => accessSigners(file, trust).size));
}

/** Ids of the ring keys that have signed. */
export function accessSigners(
  file: SignedDocument,
  { keys }: Pick<Trust, 'keys'>,
): ReadonlySet<string> {
  return signersOf(payloadOf(file), file.signatures, keys.ring);
}

/** Opens bytes that were verified before they were stored. Throws ACCESS_INVALID. */
export function storedAccess(bytes: Uint8Array): Access {
  const file = parseAccessFile(bytes);
  const document = decodeAccess(file);
  return { document, id: accessIdOf(payloadOf(file)), bytes, tokens: byId(document) };
}

function byId({ tokens }: AccessDocument): ReadonlyMap<string, GrantedToken> {
  return new Map(tokens.map((token) => [token.id, token]));
}

interface Judged {
  readonly document: Pick<AccessDocument, 'cluster' | 'epoch' | 'version'>;
  readonly id: string;
}

/**
 * Decides whether a document may follow the one in force: never an older one. Throws ACCESS_OLDER,
 * ACCESS_FORK, ACCESS_INVALID. `same`: nothing to do.
 */
export function judgeAccess(held: Judged | null, candidate: Judged): 'newer' | 'same' {
  if (held === null) return 'newer';
  if (held.id === candidate.id) return 'same';
  const [current, offered] = [held.document, candidate.document];
  if (current.cluster !== offered.cluster) {
    throw accessInvalid(
      `it belongs to cluster '${offered.cluster}', the one in force to '${current.cluster}'`,
    );
  }
  const steps = offered.epoch - current.epoch || offered.version - current.version;
  if (steps > 0) return 'newer';
  // Only epoch and version: a caller with an old document must not receive the present one in an
  // error.
  const details = { held: stepOf(current), given: stepOf(offered) };
  if (steps < 0) {
    const message = `access document ${offered.version} is older than ${current.version}, in force`;
    throw new CodedError('ACCESS_OLDER', message, {
      hint: 'work in the current rings folder (git pull): its access document is newer',
      details,
    });
  }
  const message = `two access documents ${offered.version}: ${held.id.slice(0, 12)} is in force`;
  throw new CodedError('ACCESS_FORK', message, {
    hint: 'grant again in the right folder: its next version is accepted',
    details,
  });
}

type Step = Pick<AccessDocument, 'epoch' | 'version'>;

function stepOf({ epoch, version }: Step): Step {
  return { epoch, version };
}

/** Compared if no token has the id: takes the same time, and equals no hash. */
const noHash = Buffer.alloc(32);

/**
 * Returns null, in the same time, if the token is unknown, revoked or expired, or the secret wrong.
 */
export function authenticate(
  { tokens }: Pick<Access, 'tokens'>,
  token: Token,
  nowMs: number,
): GrantedToken | null {
  const granted = tokens.get(token.id);
  const stored = granted === undefined ? noHash : Buffer.from(granted.hash, 'hex');
  const isRight = timingSafeEqual(stored, Buffer.from(tokenHash(token), 'hex'));
  return granted === undefined || !isRight || hasExpired(granted, nowMs) ? null : granted;
}

export function hasExpired({ expiresMs }: Pick<GrantedToken, 'expiresMs'>, nowMs: number): boolean {
  return expiresMs !== null && nowMs >= expiresMs;
}

/** One sentence for all reasons, so that an unknown caller learns none. */
export function tokenRefused(): CodedError {
  return new CodedError('TOKEN_REFUSED', 'the token is not granted here, or not any longer', {
    hint: 'ring-builder access list shows the granted ones; access grant creates one',
  });
}
