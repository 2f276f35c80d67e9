// Whether another holder has each record of a partition here, told by digests and last rows.
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
  /** Of the other holder's file. */
  readonly incarnation: string;
}

/** Rows in which two holders differ under load; offering so few costs no more than comparing. */
export const tailRowsFirst = offerRowsMax / 8;

/**
 * What the other holder was given and this one was not is among its last rows: a few of them when
 * little time has passed, else as many as one message holds. Each row that is told is read, packed
 * and looked up.
 */
const tailLengths = [Math.ceil(tailRowsFirst / 4), tailRowsFirst, offerRowsMax];

/**
 * False where nobody can tell: more has changed there, something is missing, it has another file by
 * now, or its program does not know the message.
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
    if (rows.length < rowsMax) return false; // that were all of them
  }
  return false;
}

/** Null when the program there is an older one, which has no such message. */
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
