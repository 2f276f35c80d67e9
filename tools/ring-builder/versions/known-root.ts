// Requires, before a command runs, that the folder's root of trust is the one that this user knows,
// and that its keys signed the heads. Otherwise whoever can write the folder leads the tool, with
// the operator's token, records and signatures, to servers of their own.
import { resolve } from 'node:path';
import { CodedError, resultOrError } from '@ringwright/base/coded-error';
import { shortened } from '@ringwright/base/shortened';
import { codeOf, messageOf } from '@ringwright/base/thrown';
import { listRings } from '@ringwright/repository/folder/list-rings';
import {
  openTrustFile,
  type RingsTrust,
  readTrust,
  trustPath,
} from '@ringwright/repository/folder/trust-file';
import { type HeadSignatures, headSignatures } from '@ringwright/repository/head-signers';
import {
  getTrustBack,
  historyOf,
  type KnownHistory,
  keepKnownRoots,
  lostTrust,
  readKnownRoots,
  requireDescent,
} from '@ringwright/repository/known-roots';
import type { Trust } from '@ringwright/ring/trust/trust-root';
import { usage } from '../cli/arguments.ts';
import type { Context } from '../cli/command.ts';

type Place = Pick<Context, 'rings' | 'keys' | 'tell'>;

export interface RootCheck {
  /** RINGWRIGHT_TRUST: id of a root that counts instead of those that are known. */
  readonly pin: string | undefined;
  /** The ring that the command concerns; undefined: all rings. */
  readonly ring: string | undefined;
  /** The command brings back what may be lost here: trust.json and signed heads. */
  readonly isRestore: boolean;
  /**
   * The command shows what it can without trust.json, which may be damaged or unreadable: health
   * and servers report that. It shows no token in such a folder.
   */
  readonly isMonitor: boolean;
}

/**
 * Remembers a root at first sight, and each root that follows it. Returns a line that says so, at
 * first sight. Throws TRUST_UNKNOWN for rings without the trust.json that is known, TRUST_OLDER,
 * TRUST_FORK, TRUST_INVALID, SIGNATURES_MISSING.
 */
export async function requireKnownRoot(place: Place, check: RootCheck): Promise<string | null> {
  const trust = await resultOrError(readTrust(place.rings));
  if (trust instanceof CodedError) {
    if (check.isMonitor) return null;
    throw trust;
  }
  if (check.pin === undefined) return requireRemembered(place, trust, check);
  return requirePinned(place, trust, { ...check, pin: check.pin });
}

/** Remembers a root that the command made, and a ring that it signed for the first time. */
export async function rememberRoot(place: Place, check: RootCheck): Promise<void> {
  if (check.pin !== undefined) return;
  const quiet = { ...place, tell: () => undefined };
  // The command is done; the next one reports what is wrong now.
  await resultOrError(requireKnownRoot(quiet, check));
}

/** Remembers the root that a command has made. Null: it made rings that are unsigned. */
export async function noteMadeRoot(place: Place, trust: RingsTrust | null): Promise<void> {
  await orWarn(place, () => acceptRoot(place, trust));
}

/** Trusts the root of the folder, or, for null, that it has none. Throws Node's own errors. */
export async function acceptRoot(place: Place, trust: RingsTrust | null): Promise<void> {
  const heads = trust === null ? [] : await headsUnder(place.rings, trust.roots, undefined);
  const signed = heads.filter(({ signers }) => signers.size > 0).map(({ name }) => name);
  await keepKnownRoots(place.keys.folder, place.rings, { trust, signed: signed.sort() });
}

/** Returns the id of the root that is known at this path; null: none, as for a backup elsewhere. */
export async function knownRootOf(place: Place): Promise<string | null> {
  const known = await orWarn(place, () => readKnownRoots(place.keys.folder));
  return historyOf(known ?? [], place.rings, null)?.roots.at(-1) ?? null;
}

async function requireRemembered(
  place: Place,
  trust: RingsTrust | null,
  { ring, isRestore }: RootCheck,
): Promise<string | null> {
  const { rings, keys } = place;
  // Nothing is remembered of unsigned rings, so nothing is missing.
  const warned = trust === null ? { ...place, tell: () => undefined } : place;
  const known = await orWarn(warned, () => readKnownRoots(keys.folder));
  if (known === null) return null;
  const history = historyOf(known, rings, trust);
  if (trust === null) {
    if (history !== null && !isRestore) await requireNoRings(rings, history.roots.at(-1) ?? '');
    return null;
  }
  if (history !== null) requireDescent(rings, history, trust);
  const heads = await headsUnder(rings, trust.roots, ring);
  if (!isRestore) requireSigned(heads, (name) => history?.signed.includes(name) === true);
  const found = heads.filter(({ signers }) => signers.size > 0).map(({ name }) => name);
  const signed = [...new Set([...(history?.signed ?? []), ...found])].sort();
  if (history !== null && isKept(place, history, { trust, signed })) return null;
  const isKeptNow = await orWarn(place, async () => {
    await keepKnownRoots(keys.folder, rings, { trust, signed });
    return true;
  });
  if (history !== null || isKeptNow === null) return null;
  const { root, id } = trust.trust;
  return (
    `root ${root.version} (${id}) of ${trustPath(rings)} is trusted from now on: ` +
    'compare this id with the one that another operator has'
  );
}

async function requireNoRings(rings: string, id: string): Promise<void> {
  if ((await listRings(rings)).length > 0) throw lostTrust(rings, id);
}

function isKept(
  { rings }: Place,
  history: KnownHistory,
  { trust, signed }: { readonly trust: RingsTrust; readonly signed: readonly string[] },
): boolean {
  const hasRoot = history.roots.at(-1) === trust.trust.id;
  const hasFolder = history.folders.includes(resolve(rings));
  return hasRoot && hasFolder && history.signed.length === signed.length;
}

/** A folder that cannot be read or written, as in a container, must not stop the command. */
async function orWarn<T>(place: Place, work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof CodedError || codeOf(error) === '') throw error;
    place.tell(
      `warning: ${place.keys.folder} cannot remember the root of trust (${messageOf(error)}), so ` +
        'another one would go unnoticed; set RINGWRIGHT_TRUST to the id that key trust shows',
    );
    return null;
  }
}

/** RINGWRIGHT_TRUST is strict, and depends on no earlier command: for machines without memory. */
async function requirePinned(
  { rings }: Place,
  trust: RingsTrust | null,
  { pin, ring, isRestore }: RootCheck & { readonly pin: string },
): Promise<null> {
  if (!/^[0-9a-f]{64}$/.test(pin)) {
    throw usage(
      `RINGWRIGHT_TRUST is ${JSON.stringify(shortened(pin))}, which is not the id of a root`,
      'ring-builder key trust shows it: 64 hex digits',
    );
  }
  if (trust === null) {
    if (!isRestore) await requireNoRings(rings, pin);
    return null;
  }
  const { root, id } = trust.trust;
  if (!trust.roots.some((one) => one.id === pin)) {
    const text = `root ${root.version} (${id}) of ${trustPath(rings)}`;
    throw new CodedError('TRUST_FORK', `${text} does not descend from RINGWRIGHT_TRUST=${pin}`, {
      hint:
        `${getTrustBack(pin)}; or set RINGWRIGHT_TRUST=${id}, once a holder of a root key has ` +
        'confirmed that id',
      details: { rings, version: root.version, id, known: { id: pin } },
    });
  }
  // Only what follows the pinned root is proven.
  const { roots } = openTrustFile(trust.bytes, pin);
  if (!isRestore) requireSigned(await headsUnder(rings, roots, ring), () => true);
  return null;
}

interface Head extends HeadSignatures {
  readonly name: string;
}

/** Returns the heads of all rings, or of one. The command itself reports an unreadable one. */
async function headsUnder(
  rings: string,
  roots: readonly Trust[],
  ring: string | undefined,
): Promise<Head[]> {
  const heads: Head[] = [];
  for (const name of await listRings(rings)) {
    if (ring !== undefined && name !== ring) continue;
    const head = await headSignatures(rings, name, roots).catch(() => null);
    if (head !== null) heads.push({ ...head, name });
  }
  return heads;
}

/**
 * One signature suffices, as the version may wait for others. An unsigned head passes unless
 * `isRequired`, because signing may begin in the middle of a history. Throws SIGNATURES_MISSING.
 */
function requireSigned(heads: readonly Head[], isRequired: (ring: string) => boolean): void {
  const found = heads.find(
    ({ name, signing, signers }) => signers.size === 0 && (signing !== null || isRequired(name)),
  );
  if (found === undefined) return;
  const { name, version } = found;
  const message = `version ${version} of ${name} has no signature of a ring key of trust.json`;
  throw new CodedError('SIGNATURES_MISSING', message, {
    hint:
      `ring-builder show ${name} prints it; restore the folder from git, or run ring-builder ` +
      `restore ${name} --from IP:PORT --replace`,
    details: { ring: name, version },
  });
}
