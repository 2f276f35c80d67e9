// Makes beacons: statements signed by a beacon key that a version is the newest, for a limited
// time.

import { accessToGive } from '@ringwright/repository/folder/access-file';
import { headOf, readLog } from '@ringwright/repository/folder/read-log';
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import { readTrust } from '@ringwright/repository/folder/trust-file';
import { beaconPayload, printBeacon } from '@ringwright/ring/trust/beacon';
import { signPayload } from '@ringwright/ring/trust/dsse';
import { signedDocument } from '@ringwright/ring/trust/signed-document';
import type { Trust } from '@ringwright/ring/trust/trust-root';
import type { Context } from '../cli/command.ts';
import type { TrustDocuments } from '../servers/give-trust.ts';
import { keyOfRole } from './signing.ts';

/** A push every few minutes keeps the beacon valid, and a frozen server is noticed as soon. */
export const beaconMinutes = 10;

/** Returns null if no private beacon key is here. */
export async function makeBeacon(
  context: Context,
  trust: Trust,
  { version: of, minutes }: { readonly version: StoredVersion; readonly minutes: number },
): Promise<Buffer | null> {
  const key = await keyOfRole(context, trust, 'beacon');
  if (key === undefined) return null;
  const { ring, id } = of;
  const { cluster, epoch } = trust.root;
  const issuedMs = context.nowMs();
  const expiresMs = issuedMs + Math.round(minutes * 60_000);
  const { keyspace, version } = ring;
  const payload = beaconPayload({ cluster, epoch, keyspace, version, id, issuedMs, expiresMs });
  return printBeacon(signedDocument(payload, [signPayload(key, payload)]));
}

/**
 * Returns trust.json, access.json if enough keys have signed it, and a beacon if the version is the
 * head and a beacon key is here.
 */
export async function trustToGive(
  context: Context,
  version: StoredVersion,
): Promise<TrustDocuments | null> {
  const found = await readTrust(context.rings);
  if (found === null) return null;
  const entries = await readLog(context.rings, version.ring.keyspace);
  const isHead = headOf(entries)?.id === version.id;
  const settings = { version, minutes: beaconMinutes };
  const beacon = isHead ? await makeBeacon(context, found.trust, settings) : null;
  const access = await accessToGive(context.rings, found.trust);
  return { roots: found.bytes, beacons: beacon === null ? [] : [beacon], access };
}
