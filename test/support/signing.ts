// Signing keys from seeds, roots of trust and signed rings for tests.
import { createHash, createPrivateKey, type KeyObject } from 'node:crypto';
import { splitRingFile, withSignatures } from '@ringwright/ring/file/ring-container';
import { ringPayloadType } from '@ringwright/ring/file/ring-envelope';
import { encodeRing } from '@ringwright/ring/file/ring-file';
import type { Signing } from '@ringwright/ring/file/ring-manifest';
import type { Ring } from '@ringwright/ring/ring';
import { type Payload, signPayload } from '@ringwright/ring/trust/dsse';
import { keyIdOf, spkiOf } from '@ringwright/ring/trust/public-key';
import { type SignedDocument, signedDocument } from '@ringwright/ring/trust/signed-document';
import { rootIdOf } from '@ringwright/ring/trust/trust-chain';
import { encodeRoot, type TrustRoot, trustRootType } from '@ringwright/ring/trust/trust-root';

/** Prefix of the 32 bytes of an ed25519 key in PKCS8. */
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex');

export interface TestKey {
  readonly name: string;
  readonly privateKey: KeyObject;
  readonly spki: string;
  readonly id: string;
}

/** Returns the key of this name, which is derived from the name. */
export function testKey(name: string): TestKey {
  const seed = createHash('sha256').update(name).digest();
  const key = Buffer.concat([pkcs8Prefix, seed]);
  const privateKey = createPrivateKey({ key, format: 'der', type: 'pkcs8' });
  const spki = spkiOf(privateKey);
  return { name, privateKey, spki, id: keyIdOf(spki) };
}

interface RootSketch {
  readonly version?: number;
  readonly epoch?: number;
  readonly cluster?: string;
  readonly expires?: string;
  readonly root?: readonly TestKey[];
  readonly ring?: readonly TestKey[];
  readonly beacon?: readonly TestKey[];
  readonly rootThreshold?: number;
  readonly threshold?: number;
  readonly large?: number;
  readonly override?: boolean;
}

export const people = {
  root: ['root-a', 'root-b', 'root-c'].map(testKey),
  ring: ['ada', 'bob', 'eve'].map(testKey),
  beacon: [testKey('pusher')],
};

/** Creates a root with three root keys (two required), three ring keys and one beacon key. */
export function testRoot(sketch: RootSketch = {}): TrustRoot {
  const { root = people.root, ring = people.ring, beacon = people.beacon } = sketch;
  const ids = (keys: readonly TestKey[]): string[] => keys.map(({ id }) => id);
  return {
    cluster: sketch.cluster ?? 'test',
    version: sketch.version ?? 1,
    epoch: sketch.epoch ?? 1,
    expires: sketch.expires ?? '2030-01-01T00:00:00.000Z',
    keys: [...root, ...ring, ...beacon].map(({ name, spki }) => ({ name, spki })),
    roles: {
      root: { keys: ids(root), threshold: sketch.rootThreshold ?? 2 },
      ring: {
        keys: ids(ring),
        threshold: sketch.threshold ?? 1,
        large: sketch.large ?? 2,
        override: sketch.override ?? true,
        movedShare: 0.05,
      },
      beacon: { keys: ids(beacon), threshold: 1 },
    },
  };
}

export function signed(payload: Payload, keys: readonly TestKey[]): SignedDocument {
  return signedDocument(
    payload,
    keys.map(({ privateKey }) => signPayload(privateKey, payload)),
  );
}

export function signedRoot(
  sketch: RootSketch = {},
  by: readonly TestKey[] = people.root,
): SignedDocument {
  return signed({ type: trustRootType, bytes: encodeRoot(testRoot(sketch)) }, by);
}

/** Returns the signing section of a manifest under this root. */
export function testSigning(root: SignedDocument, other: Partial<Signing> = {}): Signing {
  return { epoch: 1, root: rootIdOf(root), logHead: null, large: false, override: null, ...other };
}

export function signedRing(
  ring: Ring,
  signing: Signing,
  by: readonly TestKey[],
): { readonly bytes: Buffer; readonly id: string } {
  const { bytes, id } = encodeRing(ring, { signing });
  return { bytes: signAgain(bytes, by), id };
}

/** Returns the file with the signatures of these keys and no others. */
export function signAgain(bytes: Uint8Array, by: readonly TestKey[]): Buffer {
  const payload = { type: ringPayloadType, bytes: splitRingFile(bytes).manifest };
  return withSignatures(
    bytes,
    by.map(({ privateKey }) => signPayload(privateKey, payload)),
  );
}
