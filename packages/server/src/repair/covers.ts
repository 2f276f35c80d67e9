// Decides by digests and last rows whether another holder has each record of a partition here.
import { CodedError } from '@ringwright/base/coded-error';
import type { Store } from '@ringwright/partition/store';
import type { AnswerOf, RequestOf } from '@ringwright/wire/message';
import { offerRowsMax, tail } from '@ringwright/wire/replication';
import type { DeviceCaller } from '../peers/device-caller.ts';
import type { ActiveRing } from '../rings/active-ring.ts';

interface CoverPorts {
  readonly store: Store;
  readonly devices: DeviceCaller;
}

interface Compared {
  readonly active: ActiveRing;
  readonly partition: number;
  readonly device: number;
  /** Incarnation of the other holder's file. */
  readonly incarnation: string;
}

/**
 * About as many rows as two holders differ in under load. Offering so few costs no more than
 * comparing.
 */
export const tailRowsFirst = offerRowsMax / 8;

/**
 * What the other holder was given and this one was not is among its last rows: a few if little time
 * has passed, else up to as many as one message holds. Each row sent must be read, packed and
 * looked up, so the short lists come first.
 */
const tailLengths = [Math.ceil(tailRowsFirst / 4), tailRowsFirst, offerRowsMax];

/**
 * Returns false if the answer is unknown: more has changed at the other holder, something is
 * missing, its file was replaced, or its release does not know the message.
 */
export async function covers(
  { store, devices }: CoverPorts,
  { active, partition, device, incarnation }: Compared,
): Promise<boolean> {
  const { keyspace, version } = active.ring;
  const request = { keyspace, ringVersion: version, partition };
  for (const rowsMax of tailLengths) {
    const theirs = await lastRows(devices, { active, device }, { ...request, rowsMax });
    if (theirs?.incarnation !== incarnation) return false;
    const rows = theirs.rows.map(([key, ms, tie, hash]) => {
      return { key, ms, tie, hash: Buffer.from(hash, 'hex') };
    });
    if (store.peers.isCoveredBy({ keyspace, partition }, { digest: theirs.digest, rows }))
      return true;
    if (rows.length < rowsMax) return false; // the file has no more rows
  }
  return false;
}

/** Returns null if the other holder runs an older release, which has no such message. */
async function lastRows(
  devices: DeviceCaller,
  to: Parameters<DeviceCaller['call']>[0],
  request: RequestOf<typeof tail>,
): Promise<AnswerOf<typeof tail> | null> {
  try {
    return await devices.call(to, tail, request);
  } catch (error) {
    if (error instanceof CodedError && error.code === 'WIRE_VERSION_UNKNOWN') return null;
    throw error;
  }
}
