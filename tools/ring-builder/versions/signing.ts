// Signing in the tool: which key signs, whether a version may be pushed, and what is reported.
import type { KeyObject } from 'node:crypto';
import { CodedError } from '@ringwright/base/coded-error';
import { type Approval, approvalOf, requireApproved } from '@ringwright/repository/approval';
import { type RingsAccess, readAccess } from '@ringwright/repository/folder/access-file';
import { readVersion, type StoredVersion } from '@ringwright/repository/folder/read-version';
import { readTrust } from '@ringwright/repository/folder/trust-file';
import { type KnownKey, listKeys, loadKey } from '@ringwright/repository/signing-key';
import type { Trust, TrustRole } from '@ringwright/ring/trust/trust-root';
import type { Context } from '../cli/command.ts';

/**
 * Returns the key that signs ring versions here. Returns undefined in an unsigned folder, and
 * without a private half of a trusted key, which commitVersion then refuses. A command signs with
 * one key: two keys on one machine must not pass for two people.
 */
export async function ringKey(context: Context): Promise<KeyObject | undefined> {
  const trust = await trustOf(context);
  return trust === null ? undefined : keyOfRole(context, trust, 'ring');
}

export async function keyOfRole(
  context: Context,
  trust: Trust,
  role: TrustRole,
): Promise<KeyObject | undefined> {
  const known = await localKeys(context, trust, role);
  const { name } = context.keys;
  const chosen =
    role === 'ring' && name !== null ? known.find((one) => one.name === name) : known[0];
  if (chosen !== undefined)
    return loadKey(context.keys.folder, chosen.name, () => context.keys.passphrase('open'));
  if (role !== 'ring' || name === null) return undefined;
  throw new CodedError(
    'SIGNING_KEY_UNKNOWN',
    `key ${name} is not a ring key with its private key here`,
    {
      hint: 'ring-builder key list shows which keys are trusted, and which are here',
      details: { name, folder: context.keys.folder, here: known.map((one) => one.name) },
    },
  );
}

/** Returns keys of a role whose private half lies in the keys folder, by name. */
async function localKeys(
  context: Context,
  trust: Trust,
  role: TrustRole,
): Promise<readonly KnownKey[]> {
  const known = await listKeys(context.keys.folder);
  return known.filter(({ id }) => trust.keys[role].has(id));
}

/** Returns the newest root of the folder, or null if rings are unsigned. Throws TRUST_INVALID. */
export async function trustOf(context: Context): Promise<Trust | null> {
  return (await readTrust(context.rings))?.trust ?? null;
}

/** State of the folder's access document. Null: no access has been granted here. */
export interface AccessStanding {
  readonly version: number;
  /** Missing signatures, without which no server accepts it. */
  readonly missing: number;
}

/** Throws ACCESS_INVALID. */
export async function accessOf(
  { rings }: Context,
  trust: Trust | null,
): Promise<AccessStanding | null> {
  const access = trust === null ? null : await readAccess(rings, trust);
  return access && { version: access.document.version, missing: missingOf(access) };
}

export function missingOf({ signers, needed }: RingsAccess): number {
  return Math.max(0, needed - signers.length);
}

/** Throws SIGNATURES_MISSING while a version waits for signatures. */
export async function requirePushable(context: Context, version: StoredVersion): Promise<void> {
  requireApproved(version, await trustOf(context));
}

interface SignedAnswer extends Approval {
  readonly lines: readonly string[];
  /** The command to type next if somebody must sign first. */
  readonly next: string | null;
}

/** Reports the signatures of a committed version. Warns if there are none. */
export async function tellSigned(
  context: Context,
  ring: string,
  version: number,
): Promise<SignedAnswer> {
  const trust = await trustOf(context);
  const approval = approvalOf(await readVersion(context.rings, ring, version), trust);
  if (!approval.signed) {
    context.tell(
      `UNSIGNED: version ${version} of ${ring} can be forged by anyone who can reach a server; ` +
        `${context.next('key generate')} turns on signing`,
    );
    return { ...approval, lines: [], next: null };
  }
  return {
    ...approval,
    lines: [signersLine(approval)],
    next: approval.missing === 0 ? null : context.next(`sign ${ring} ${version}`),
  };
}

export function signersLine({ signers, needed, missing }: Approval): string {
  const who = signers.length === 0 ? 'no trusted key' : signers.join(', ');
  const waits = missing === 0 ? '' : `; ${missing} more needed before it can be pushed`;
  return `signed by ${who} (${signers.length} of ${needed})${waits}`;
}
