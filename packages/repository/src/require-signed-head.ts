// Checks whether the next version may build on the head. Anyone who can write the folder can edit
// its files without a key, and the next version would sign the devices they name.
import type { KeyObject } from 'node:crypto';
import { CodedError } from '@ringwright/base/coded-error';
import { type BuilderState } from '@ringwright/builder/state/builder-state';
import { sameState } from '@ringwright/builder/state/state-json';
import { exists } from '@ringwright/node/missing-file';
import { signaturesNeeded } from '@ringwright/ring/trust/authenticate-ring';
import { signersOf } from '@ringwright/ring/trust/dsse';
import { keyIdOf, spkiOf } from '@ringwright/ring/trust/public-key';
import type { Trust } from '@ringwright/ring/trust/trust-root';
import { ringPayload } from './encode-version.ts';
import { readVersionFile, type StoredVersion } from './folder/read-version.ts';
import { type RingFolder, versionPath } from './folder/ring-folder.ts';

/** Throws BUILDER_FILE_INVALID if builder.json differs from the state that the version restores. */
export function requireState(folder: RingFolder, head: StoredVersion, state: BuilderState): void {
  if (head.state === null || sameState(head.state, state)) return;
  const message = `${folder.builder} differs from what version ${head.ring.version} restores`;
  throw new CodedError('BUILDER_FILE_INVALID', message, {
    hint: `restore it from git, then run ring-builder verify ${folder.ring}`,
    details: { ring: folder.ring, path: folder.builder },
  });
}

/**
 * Requires that the head has the signatures it needed when it was made, or one of the key that
 * signs now, so that nobody signs unseen what nobody approved. An unsigned head is accepted if no
 * earlier version is signed: signing was turned on after it. Throws SIGNATURES_MISSING.
 */
export async function requireSignedHead(
  folder: RingFolder,
  head: StoredVersion,
  { roots, key }: { readonly roots: readonly Trust[]; readonly key: KeyObject | undefined },
): Promise<void> {
  const { signing, ring } = head;
  const { version } = ring;
  if (signing === null) {
    const signed = await signedBefore(folder, version);
    if (signed === null) return;
    throw notVouched(folder, version, `no signature, although version ${signed} is signed`);
  }
  const at = roots.findIndex(({ id }) => id === signing.root);
  const root = roots[at];
  if (root === undefined) throw notVouched(folder, version, 'a root that is not in trust.json');
  const signers = ringSigners(head, roots.slice(at));
  const needed = signaturesNeeded(signing, root);
  const isOwn = key !== undefined && signers.has(keyIdOf(spkiOf(key)));
  if (isOwn || signers.size >= needed) return;
  throw notVouched(folder, version, `${signers.size} of ${needed} signatures`);
}

/**
 * Throws SIGNATURES_MISSING for a version that no ring key has signed: its author signs it first.
 */
export function requireAnySignature(
  folder: RingFolder,
  version: StoredVersion,
  roots: readonly Trust[],
): void {
  if (ringSigners(version, roots).size > 0) return;
  throw notVouched(folder, version.ring.version, 'no signature of any ring key of trust.json');
}

function ringSigners(
  { bytes, signatures }: StoredVersion,
  roots: readonly Trust[],
): ReadonlySet<string> {
  const keys = new Map(roots.flatMap((root) => [...root.keys.ring]));
  return signersOf(ringPayload(bytes), signatures, keys);
}

/** Returns the newest signed version before `version`; null if there is none. */
async function signedBefore(folder: RingFolder, version: number): Promise<number | null> {
  for (let before = version - 1; before > 0; before -= 1) {
    if (!(await exists(versionPath(folder, before)))) continue; // it was pruned
    const { signing } = await readVersionFile(folder, before);
    if (signing !== null) return before;
  }
  return null;
}

function notVouched({ ring }: RingFolder, version: number, has: string): CodedError {
  return new CodedError('SIGNATURES_MISSING', `version ${version} of ${ring} has ${has}`, {
    hint:
      `ring-builder show ${ring} ${version} shows it; if it is right, ring-builder sign ` +
      `${ring} ${version}; otherwise restore the folder from git, or run ` +
      `ring-builder restore ${ring} --from IP:PORT --replace`,
    details: { ring, version },
  });
}
