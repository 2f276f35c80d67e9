// Makes the next root of a rings folder, collects its signatures, and puts it in force for all
// rings. Root keys lie on several machines, offline. So a root may wait in trust-next.json, which
// travels by git or on a removable drive, until enough of the old and of the new keys have signed
// it.
import type { KeyObject } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import { trustFileBytesMax } from '@ringwright/base/limits';
import { jsonOrNull } from '@ringwright/base/parse-json';
import {
  makeDirectoryPath,
  removeTemporaries,
  replaceDurably,
} from '@ringwright/node/durable-files';
import { nullIfMissing } from '@ringwright/node/missing-file';
import { readRegularFile } from '@ringwright/node/read-regular-file';
import { type Payload, signersOf, signPayload } from '@ringwright/ring/trust/dsse';
import { keyIdOf, spkiOf } from '@ringwright/ring/trust/public-key';
import {
  payloadOf,
  printSigned,
  type SignedDocument,
  signedDocument,
  signedDocumentSchema,
} from '@ringwright/ring/trust/signed-document';
import { walkRoots } from '@ringwright/ring/trust/trust-chain';
import {
  decodeRoot,
  encodeRoot,
  type Trust,
  type TrustRoot,
  trustInvalid,
  trustRootType,
} from '@ringwright/ring/trust/trust-root';
import { accessPath } from './folder/access-file.ts';
import { withRingLock } from './folder/ring-lock.ts';
import { readTrust, requireTrust, trustPath, writeTrust } from './folder/trust-file.ts';
import type { Author } from './write-ring.ts';

/** A root of trust and the state of its signatures. */
export interface Rotation {
  readonly root: TrustRoot;
  readonly id: string;
  /** False while it waits for signatures. */
  readonly inForce: boolean;
  /** Valid signatures and the number needed: by keys of the previous root, and by its own keys. */
  readonly byPrevious: readonly [found: number, needed: number];
  readonly byItself: readonly [found: number, needed: number];
  /** Root keys that have not signed, of a root whose signatures are still needed. */
  readonly unsigned: readonly { readonly name: string; readonly id: string }[];
}

function pendingPath(rings: string): string {
  return join(rings, 'trust-next.json');
}

/** Returns the bytes of trust-next.json; null if no root waits. */
export function readWaiting(rings: string): Promise<Uint8Array | null> {
  return readRegularFile(pendingPath(rings), trustFileBytesMax).catch(nullIfMissing);
}

/** Makes root 1, signed by its own keys. Throws TRUST_EXISTS, TRUST_INVALID. */
export async function beginTrust(
  rings: string,
  author: Author,
  { root, keys }: { readonly root: TrustRoot; readonly keys: readonly KeyObject[] },
): Promise<Rotation> {
  return withTrustLock(rings, author, async () => {
    if ((await readTrust(rings)) !== null) {
      throw new CodedError('TRUST_EXISTS', `${trustPath(rings)} already exists`, {
        hint: 'ring-builder key trust shows it; ring-builder key trust --add changes it',
      });
    }
    const document = signRoot(unsigned(root), keys);
    walkRoots([document], null);
    await writeTrust(rings, [document]);
    return rotationOf(rings, document);
  });
}

/**
 * Makes the next root. `change` gets the root in force; null signs the waiting root. The new root
 * is in force at once if the keys suffice, else it waits. Throws TRUST_UNKNOWN, TRUST_INVALID, and
 * CONFIRMATION_NEEDED if another change is waiting.
 */
export async function rotateTrust(
  rings: string,
  author: Author,
  request: {
    readonly change: ((root: TrustRoot) => TrustRoot) | null;
    readonly keys: readonly KeyObject[];
    /** Whether a waiting root may be discarded with its signatures. */
    readonly replacesWaiting: boolean;
  },
): Promise<Rotation> {
  return withTrustLock(rings, author, async () => {
    const { trust, documents } = await requireTrust(rings);
    if (request.change !== null && !request.replacesWaiting) await requireNoneWaits(rings, trust);
    const sketch =
      request.change === null
        ? await readPending(rings, trust.root.version + 1)
        : wantedRoot({ ...request.change(trust.root), version: trust.root.version + 1 });
    const allowed = new Set([...trust.root.roles.root.keys, ...rootKeysOf(sketch)]);
    const usable = request.keys.filter((key) => allowed.has(keyIdOf(spkiOf(key))));
    if (usable.length === 0) throw noRootKey([...allowed]);
    const document = signRoot(sketch, usable);
    const rotation = await rotationOf(rings, document);
    if (rotation.inForce) {
      walkRoots([...documents, document], null);
      await writeTrust(rings, [...documents, document]);
      await rm(pendingPath(rings), { force: true });
    } else await replaceDurably(pendingPath(rings), `${printSigned(document)}\n`);
    return rotation;
  });
}

async function requireNoneWaits(rings: string, { root }: Trust): Promise<void> {
  const waiting = await waitingRoot(rings);
  if (waiting?.root.version !== root.version + 1) return;
  const [found, needed] = waiting.byPrevious;
  const signed = `${found} of ${needed} signatures of root ${root.version}`;
  const message = `root ${waiting.root.version} is already pending, with ${signed}`;
  throw new CodedError('CONFIRMATION_NEEDED', message, {
    hint:
      'ring-builder key trust shows it, key trust --sign signs it unchanged; ' +
      '--yes replaces it by this change, key trust --discard discards it',
    details: { version: waiting.root.version, id: waiting.id },
  });
}

export async function waitingRoot(rings: string): Promise<Rotation | null> {
  const bytes = await readWaiting(rings);
  return bytes === null ? null : rotationOf(rings, parsePending(bytes));
}

/** Discards the waiting root and its signatures. Throws TRUST_UNKNOWN, LOCK_HELD. */
export function discardWaiting(rings: string, author: Author): Promise<void> {
  return withTrustLock(rings, author, async () => {
    if ((await readWaiting(rings)) === null) throw noneWaits(rings);
    await rm(pendingPath(rings));
  });
}

/** Returns the parts of trust-next.json without verifying them. Throws TRUST_INVALID. */
export function openWaitingRoot(bytes: Uint8Array): {
  readonly document: SignedDocument;
  readonly payload: Payload;
  readonly own: Trust;
} {
  const document = parsePending(bytes);
  const payload = payloadOf(document);
  return { document, payload, own: decodeRoot(payload.bytes) };
}

async function rotationOf(rings: string, document: SignedDocument): Promise<Rotation> {
  const decoded = decodeRoot(payloadOf(document).bytes);
  const previous = (await readTrust(rings))?.roots.findLast(
    ({ root }) => root.version < decoded.root.version,
  );
  const signers = (by: Trust): ReadonlySet<string> =>
    signersOf(payloadOf(document), document.signatures, by.keys.root);
  const count = (by: Trust): readonly [number, number] => [
    signers(by).size,
    by.root.roles.root.threshold,
  ];
  const byItself = count(decoded);
  const byPrevious = previous === undefined ? ([0, 0] as const) : count(previous);
  const inForce = [byItself, byPrevious].every(([found, needed]) => found >= needed);
  const lacking = [previous, decoded].flatMap((by) => {
    if (by === undefined || signers(by).size >= by.root.roles.root.threshold) return [];
    const keys = by.root.keys.map(({ name, spki }) => [keyIdOf(spki), name] as const);
    return keys.filter(([id]) => by.keys.root.has(id) && !signers(by).has(id));
  });
  const unsigned = [...new Map(lacking)].map(([id, name]) => ({ name, id }));
  return { root: decoded.root, id: decoded.id, inForce, byPrevious, byItself, unsigned };
}

/**
 * Rewords errors: the existing documents are valid, so the requested change is wrong. Throws
 * TRUST_INVALID.
 */
function wantedRoot(root: TrustRoot): SignedDocument {
  try {
    return unsigned(root);
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    throw new CodedError(error.code, error.message.replace('trust document: ', 'such a root: '), {
      hint:
        'nothing was changed: ring-builder key trust shows the root in force; ring-builder key ' +
        'generate NAME --role ROLE prints a further key for ring-builder key trust --add',
      details: error.details,
      cause: error,
    });
  }
}

function unsigned(root: TrustRoot): SignedDocument {
  const bytes = encodeRoot(root);
  decodeRoot(bytes);
  return signedDocument({ type: trustRootType, bytes }, []);
}

function signRoot(document: SignedDocument, keys: readonly KeyObject[]): SignedDocument {
  const payload = payloadOf(document);
  const added = keys.map((key) => signPayload(key, payload));
  const others = document.signatures.filter(
    ({ keyid }) => !added.some((one) => one.keyid === keyid),
  );
  return signedDocument(payload, [...others, ...added]);
}

function rootKeysOf(document: SignedDocument): readonly string[] {
  return decodeRoot(payloadOf(document).bytes).root.roles.root.keys;
}

async function readPending(rings: string, version: number): Promise<SignedDocument> {
  const bytes = await readWaiting(rings);
  if (bytes === null) throw noneWaits(rings);
  const document = parsePending(bytes);
  const found = decodeRoot(payloadOf(document).bytes).root.version;
  if (found === version) return document;
  throw trustInvalid(`root ${found} is pending, but the next one is ${version}: make it again`);
}

function noneWaits(rings: string): CodedError {
  return new CodedError(
    'TRUST_UNKNOWN',
    `${pendingPath(rings)} does not exist: no root is pending`,
    {
      hint: 'ring-builder key trust --add, --threshold and similar options create one',
    },
  );
}

function parsePending(bytes: Uint8Array): SignedDocument {
  if (bytes.length > trustFileBytesMax)
    throw trustInvalid(`the pending root has ${bytes.length} bytes`);
  const value = jsonOrNull(Buffer.from(bytes).toString('utf8'));
  const document = signedDocumentSchema.safeParse(value).data;
  if (document?.payloadType === trustRootType) return document;
  throw trustInvalid('trust-next.json is not a signed root');
}

function noRootKey(allowed: readonly string[]): CodedError {
  const message = 'no private key for a root key of the old or the new root is here';
  return new CodedError('SIGNING_KEY_UNKNOWN', message, {
    hint: 'take the folder to a machine with a root key, or name the key folder with --key-folder DIR',
    details: { keys: allowed },
  });
}

/** Runs `work` as the only writer of these files, without leftovers. Throws LOCK_HELD. */
export async function withTrustLock<T>(
  rings: string,
  author: Author,
  work: () => Promise<T>,
): Promise<T> {
  await makeDirectoryPath(rings);
  return withRingLock({ ring: 'trust.json', path: rings }, author, async () => {
    const written = [trustPath(rings), accessPath(rings), pendingPath(rings)];
    for (const path of written) await removeTemporaries(path);
    return work();
  });
}
