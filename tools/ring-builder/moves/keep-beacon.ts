// A rollout may take longer than a beacon lives: it renews the word that its head is the newest.
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import type { Context } from '../cli/verb.ts';
import { giveTrust } from '../servers/give-trust.ts';
import { ringTargets } from '../servers/ring-targets.ts';
import { beaconMinutes, trustToGive } from '../versions/sign-beacon.ts';

/** Twice more before it runs out, should a server not be reached. */
const renewMs = (beaconMinutes * 60_000) / 3;

/**
 * The function returned gives servers a fresh beacon of the head, at most every third of a
 * beacon's life; nothing where no beacon key is here. The push of the head gave the first.
 */
export function keepBeacon(context: Context): (head: StoredVersion) => Promise<void> {
  let givenMs = context.nowMs();
  return async (head) => {
    const now = context.nowMs();
    if (now - givenMs < renewMs) return;
    givenMs = now;
    const trust = await trustToGive(context, head);
    if (trust === null || trust.beacons.length === 0) return;
    const told = await giveTrust(ringTargets(head.ring, head.state), trust, now);
    const failed = told.filter(({ outcome }) => outcome !== 'accepted');
    if (failed.length === 0) return;
    const names = failed.map(({ address, code }) => `${address} (${code})`).join(', ');
    context.tell(`${head.ring.keyspace}: no fresh beacon at ${names}`);
  };
}
