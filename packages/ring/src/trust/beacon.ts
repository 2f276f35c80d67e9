// A beacon: a signed statement that a version is the newest, valid for a limited time. Pure.
// A server that only gets old rings (a freeze attack) sees its beacon expire, or gets a beacon of a
// version that it was never sent.
import { canonicalJson } from '@ringwright/base/canonical-json';
import { CodedError } from '@ringwright/base/coded-error';
import { beaconBytesMax, beaconLifeMsMax, clockAheadMsMax } from '@ringwright/base/limits';
import { z } from 'zod';
import { keyspaceNamePattern } from '../keyspace-name.ts';
import { type Payload, signersOf } from './dsse.ts';
import {
  parseWithSchema,
  payloadOf,
  printSigned,
  type SignedDocument,
  signedDocumentSchema,
} from './signed-document.ts';
import { requireUnexpired } from './trust-chain.ts';
import type { Trust } from './trust-root.ts';

const beaconType = 'application/vnd.ringwright.beacon+json';

const beaconSchema = z.strictObject({
  cluster: z.string().min(1).max(128),
  epoch: z.int().min(1),
  keyspace: z.string().regex(keyspaceNamePattern),
  /** The newest version, and its ring id. */
  version: z.int().min(1),
  id: z.string().regex(/^[0-9a-f]{64}$/),
  /** Milliseconds since 1970, UTC. */
  issuedMs: z.int().min(0),
  expiresMs: z.int().min(0),
});

export type Beacon = z.infer<typeof beaconSchema>;

export function beaconPayload(beacon: Beacon): Payload {
  return { type: beaconType, bytes: Buffer.from(canonicalJson(beacon)) };
}

export function printBeacon(document: SignedDocument): Buffer {
  return Buffer.from(printSigned(document));
}

/**
 * Verifies the signatures of a document, then parses its beacon. Throws BEACON_REFUSED,
 * TRUST_EXPIRED. An expired beacon is no error: its age is the information.
 */
export function openBeacon(bytes: Uint8Array, trusts: readonly Trust[], nowMs: number): Beacon {
  const document = parseDocument(bytes);
  const payload = payloadOf(document);
  if (payload.type !== beaconType) throw refused(`its payload type is ${payload.type}`);
  const signed = trusts.filter((trust) => {
    const { keys, threshold } = trust.root.roles.beacon;
    if (keys.length === 0) return false;
    return signersOf(payload, document.signatures, trust.keys.beacon).size >= threshold;
  });
  if (signed.length === 0) throw refused('it lacks valid signatures of trusted beacon keys');
  const beacon = parseWithSchema(beaconSchema, document.payload, refused);
  const trust = signed.find(({ root }) => root.cluster === beacon.cluster);
  if (trust === undefined) throw refused(`it is of cluster '${beacon.cluster}'`);
  requireUnexpired(trust, nowMs);
  if (beacon.epoch !== trust.root.epoch) {
    throw refused(`it is of epoch ${beacon.epoch}, but the root is of epoch ${trust.root.epoch}`);
  }
  const { issuedMs, expiresMs } = beacon;
  if (issuedMs > nowMs + clockAheadMsMax) {
    const seconds = Math.round((issuedMs - nowMs) / 1_000);
    throw refused(
      `the clock of the machine that issued it is ${seconds} s ahead of the clock here, ` +
        `at most ${clockAheadMsMax / 1_000} s are allowed`,
    );
  }
  if (expiresMs <= issuedMs || expiresMs - issuedMs > beaconLifeMsMax) {
    throw refused(
      `its lifetime is ${expiresMs - issuedMs} ms, at most ${beaconLifeMsMax} are allowed`,
    );
  }
  return beacon;
}

function parseDocument(bytes: Uint8Array): SignedDocument {
  if (bytes.length > beaconBytesMax) {
    throw refused(`it has ${bytes.length} bytes, at most ${beaconBytesMax} are allowed`);
  }
  return parseWithSchema(signedDocumentSchema, Buffer.from(bytes).toString('utf8'), refused);
}

function refused(sentence: string): CodedError {
  return new CodedError('BEACON_REFUSED', `beacon refused: ${sentence}`, {
    hint: 'ring-builder beacon RING sends a fresh one',
  });
}
