// Beacons from the tool: the word of a beacon key that a version is the newest, for a while.

import { accessToGive } from '@ringwright/repository/folder/access-file';
import { headOf, readLog } from '@ringwright/repository/folder/read-log';
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import { readTrust } from '@ringwright/repository/folder/trust-file';
import { beaconPayload, printBeacon } from '@ringwright/ring/trust/beacon';
import { signPayload } from '@ringwright/ring/trust/dsse';
import { signedDocument } from '@ringwright/ring/trust/signed-document';
import type { Trust } from '@ringwright/ring/trust/trust-root';
import type { Context } from '../cli/verb.ts';
import type { TrustDocuments } from '../servers/give-trust.ts';
import { keyOfRole } from './signing.ts';

/** A pusher that runs every few minutes keeps it alive; a frozen server is noticed as soon. */
export const beaconMinutes = 10;

/** Null when the private half of no beacon key is here. */
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
 * trust.json, access.json when enough have signed it, and a beacon when the version is the head and
 * a beacon key is here.
 */
export async function trustToGive(
  context: Context,
  version: StoredVersion,
): Promise<TrustDocuments | null> {
  const found = await readTrust(context.rings);
  if (found === null) return null;
  const entries = await readLog(context.rings, version.ring.keyspace);
  const isHead = headOf(entries)?.id === version.id;
  const given = { version, minutes: beaconMinutes };
  const beacon = isHead ? await makeBeacon(context, found.trust, given) : null;
  const access = await accessToGive(context.rings, found.trust);
  return { roots: found.bytes, beacons: beacon === null ? [] : [beacon], access };
}
