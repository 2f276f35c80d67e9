// Whether the next version may be built on the head. Whoever may write the folder may write its
// files too, without any key: what they say of devices would be signed with the next version.
import type { KeyObject } from 'node:crypto';
import { CodedError } from '@ringwright/base/coded-error';
import { type BuilderState } from '@ringwright/builder/state/builder-state';
import { serializeState } from '@ringwright/builder/state/state-json';
import { exists } from '@ringwright/node/missing-file';
import { signaturesNeeded } from '@ringwright/ring/trust/authenticate-ring';
import { signersOf } from '@ringwright/ring/trust/dsse';
import { keyIdOf, spkiOf } from '@ringwright/ring/trust/public-key';
import type { Trust } from '@ringwright/ring/trust/trust-root';
import { ringPayload } from './encode-version.ts';
import { readVersionFile, type StoredVersion } from './folder/read-version.ts';
import { type RingFolder, versionPath } from './folder/ring-folder.ts';

/** Throws BUILDER_FILE_INVALID where builder.json is not what the version restores. */
export function requireState(folder: RingFolder, head: StoredVersion, state: BuilderState): void {
  if (head.state === null) return;
  if (Buffer.compare(serializeState(head.state), serializeState(state)) === 0) return;
  const message = `${folder.builder} is not what version ${head.ring.version} restores`;
  throw new CodedError('BUILDER_FILE_INVALID', message, {
    hint: `get it back from git, then: ring-builder verify ${folder.ring}`,
    details: { ring: folder.ring, path: folder.builder },
  });
}

/**
 * The head has the signatures that it needed when it was made, or one of the key that signs now.
 * So nobody puts a name to what another one made and nobody approved. A head from before there were
 * signatures has none, nor has any version before it. Throws SIGNATURES_MISSING.
 */
export async function requireVouched(
  folder: RingFolder,
  head: StoredVersion,
  { roots, key }: { readonly roots: readonly Trust[]; readonly key: KeyObject | undefined },
): Promise<void> {
  const { signing, ring } = head;
  const { version } = ring;
  if (signing === null) {
    const signed = await signedBefore(folder, version);
    if (signed === null) return;
    throw notVouched(folder, version, `no signature, and version ${signed} before it has`);
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

/** Throws SIGNATURES_MISSING: who makes a version signs it, so this one is of somebody unknown. */
export function requireMaker(
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

/** The newest signed version before an unsigned one; null: there is none. */
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
      `ring-builder show ${ring} ${version} shows it: where it is right, ring-builder sign ` +
      `${ring} ${version}; else get the folder back from git, or: ring-builder restore ${ring} ` +
      '--from IP:PORT --replace',
    details: { ring, version },
  });
}
