// Decides every open promise of a device (one without a record as new) before another device takes
// its place: the joiner does not know the promise.
import { promises } from '@ringwright/wire/replication';
import type { DeviceCaller } from '../peers/device-caller.ts';
import type { ActiveRing } from '../rings/active-ring.ts';

/** Ends in a round that leaves a record at or above every promise of the key, on a quorum. */
export type FinishProposal = (keyspace: string, key: Uint8Array) => Promise<unknown>;

/** Rejects as propose, and with what the device answers. */
export async function finishProposals(
  { devices, decide }: { readonly devices: DeviceCaller; readonly decide: FinishProposal },
  holder: { readonly active: ActiveRing; readonly partition: number; readonly device: number },
): Promise<void> {
  const { active, partition, device } = holder;
  const { keyspace, version } = active.ring;
  const about = { keyspace, ringVersion: version, partition };
  let after: Uint8Array = new Uint8Array();
  for (let isMore = true; isMore; ) {
    const { keys, more } = await devices.call({ active, device }, promises, { ...about, after });
    for (const key of keys) await decide(keyspace, key);
    after = keys.at(-1) ?? after;
    isMore = more && keys.length > 0;
  }
}
