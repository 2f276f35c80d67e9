// Encodes a version as bytes. In a signed folder its manifest names root, epoch and log head, and
// the file is signed.
import type { KeyObject } from 'node:crypto';
import { CodedError } from '@ringwright/base/coded-error';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import { serializeState } from '@ringwright/builder/state/state-json';
import { splitRingFile, withSignatures } from '@ringwright/ring/file/ring-container';
import { ringPayloadType } from '@ringwright/ring/file/ring-envelope';
import { encodeRing } from '@ringwright/ring/file/ring-file';
import type { Section } from '@ringwright/ring/file/ring-manifest';
import type { Ring } from '@ringwright/ring/ring';
import { signPayload } from '@ringwright/ring/trust/dsse';
import { keyIdOf, spkiOf } from '@ringwright/ring/trust/public-key';
import { requireUnexpired } from '@ringwright/ring/trust/trust-chain';
import type { Trust } from '@ringwright/ring/trust/trust-root';
import type { LogEntry } from './folder/log-entry.ts';
import { trustPath } from './folder/trust-file.ts';
import type { Verdict } from './judge-version.ts';

/** What the file of a version is made from. */
export interface VersionContent {
  readonly ring: Ring;
  /** Becomes the builder section of the file and the state in builder.json. */
  readonly state: BuilderState;
  /** The key that signs the version, in a folder with a trust document. */
  readonly key?: KeyObject | undefined;
  readonly entry: Pick<LogEntry, 'time'>;
}

interface EncodedVersion {
  readonly bytes: Uint8Array;
  readonly id: string;
  /** Further details for the log: change guard, override, signer. */
  readonly details: LogEntry['details'];
}

/**
 * Without trust, returns the bytes of an unsigned ring. Throws SIGNING_KEY_UNKNOWN if the key is
 * missing or is no ring key, RING_FOREIGN, TRUST_EXPIRED.
 */
export function encodeVersion(
  { ring, state, key, entry }: VersionContent,
  verdict: Verdict,
  parts: {
    readonly trust: Trust | null;
    readonly logHead: string | null;
    readonly extraSections: readonly Section[];
  },
): EncodedVersion {
  const { trust, logHead, extraSections } = parts;
  const { large, override } = verdict;
  const builder = serializeState(state);
  const guarded = {
    ...(large === null ? {} : { large }),
    ...(override === null ? {} : { override }),
  };
  if (trust === null) return { ...encodeRing(ring, { builder, extraSections }), details: guarded };
  const { root, id: rootId } = trust;
  if (ring.cluster !== root.cluster) throw foreign(ring.cluster, root.cluster);
  requireUnexpired(trust, Date.parse(entry.time));
  const privateKey = requireRingKey(trust, key);
  const signing = { epoch: root.epoch, root: rootId, logHead, large: large !== null, override };
  const { bytes, id } = encodeRing(ring, { builder, extraSections, signing });
  const signature = signPayload(privateKey, ringPayload(bytes));
  const details = { ...guarded, signer: signature.keyid };
  return { bytes: withSignatures(bytes, [signature]), id, details };
}

/** Returns the payload that the signatures of a ring file cover. */
export function ringPayload(bytes: Uint8Array): { type: string; bytes: Uint8Array } {
  return { type: ringPayloadType, bytes: splitRingFile(bytes).manifest };
}

/** Throws SIGNING_KEY_UNKNOWN. */
export function requireRingKey(trust: Trust, key: KeyObject | undefined): KeyObject {
  if (key !== undefined && trust.keys.ring.has(keyIdOf(spkiOf(key)))) return key;
  const { cluster, version } = trust.root;
  const problem = key === undefined ? 'no key was named' : 'the key is not one of the ring keys';
  const message = `rings of cluster '${cluster}' are signed, but ${problem} of root ${version}`;
  throw new CodedError('SIGNING_KEY_UNKNOWN', message, {
    hint: 'ring-builder key list shows the trusted keys; --key-folder DIR and --sign-as NAME select yours',
    details: { keys: [...trust.keys.ring.keys()] },
  });
}

function foreign(cluster: string, trusted: string): CodedError {
  const message = `the ring is of cluster '${cluster}', but ${trustPath('rings')} of '${trusted}'`;
  return new CodedError('RING_FOREIGN', message, {
    hint: 'keep rings of another cluster in another folder: --rings DIR',
    details: { given: cluster, trusted },
  });
}
