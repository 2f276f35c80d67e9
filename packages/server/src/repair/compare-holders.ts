// Whether another holder has records of a partition here: the latest by the sums of both (see
// RecentRows), all by digests and last rows.
import { hasCode } from '@ringwright/base/coded-error';
import { clockAheadMsMax, recentSpanMs, replicationAgeMsMin } from '@ringwright/base/limits';
import type { RecentView } from '@ringwright/partition/file/recent-rows';
import type { Store } from '@ringwright/partition/store';
import type { AnswerOf, RequestOf } from '@ringwright/wire/message';
import { offerRowsMax, tail } from '@ringwright/wire/replication';
import type { DeviceCaller, DeviceTarget } from '../peers/device-caller.ts';
import type { ActivePartition } from '../rings/active-ring.ts';

interface CoverPorts {
  readonly store: Store;
  readonly devices: DeviceCaller;
}

interface Compared extends ActivePartition {
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
export async function isCoveredByPeer(
  { store, devices }: CoverPorts,
  { active, partition, device, incarnation }: Compared,
): Promise<boolean> {
  const { keyspace, version } = active.ring;
  const request = { keyspace, ringVersion: version, partition };
  for (const rowsMax of tailLengths) {
    const answer = await lastRows(devices, { active, device }, { ...request, rowsMax });
    if (answer?.incarnation !== incarnation) return false;
    const rows = answer.rows.map(([key, ms, tie, hash]) => {
      return { key, ms, tie, hash: Buffer.from(hash, 'hex') };
    });
    if (store.peers.isCoveredBy({ keyspace, partition }, { digest: answer.digest, rows }))
      return true;
    if (rows.length < rowsMax) return false; // the file has no more rows
  }
  return false;
}

/** Returns null if the other holder runs an older release, which has no such message. */
async function lastRows(
  devices: DeviceCaller,
  to: DeviceTarget,
  request: RequestOf<typeof tail>,
): Promise<AnswerOf<typeof tail> | null> {
  try {
    return await devices.call(to, tail, request);
  } catch (error) {
    if (hasCode(error, 'WIRE_VERSION_UNKNOWN')) return null;
    throw error;
  }
}

/**
 * young: the record's own write may still be on the way. ahead: written by a wrong clock, and no
 * holder takes the record before its time. settled: all others, also those ahead by less.
 */
type StampAge = 'settled' | 'young' | 'ahead';

/** By its stamp, for those who offer it to other holders. With `nowMs` infinite all are settled. */
export function stampAge(ms: number, nowMs: number): StampAge {
  if (ms - nowMs > clockAheadMsMax) return 'ahead';
  return Math.abs(ms - nowMs) < replicationAgeMsMin ? 'young' : 'settled';
}

interface RecentComparison {
  /** The peer was given every record up to this sequence. */
  readonly confirmed: number;
  /** Whether the peer may lack something that is old enough to be offered. */
  readonly isSuspect: boolean;
}

interface ComparedFiles {
  /** The recent sums of the file here, all of one moment. */
  readonly ownSums: RecentView;
  /** The highest sequence of the file here at that moment. */
  readonly seq: number;
  /** The peer's sums by span, of a later moment. */
  readonly peerSums: ReadonlyMap<number, string>;
  /** The sequence that the peer has confirmed before. */
  readonly since: number;
  readonly nowMs: number;
}

/**
 * Equal sums of a span mean that both files were given the same records in their present lives. So
 * the peer has each row of the span, or something newer of its key. This holds for rows from
 * `ownSums.trackedFrom` on; earlier rows have to be confirmed key by key.
 */
export function compareRecent({
  ownSums,
  seq,
  peerSums,
  since,
  nowMs,
}: ComparedFiles): RecentComparison {
  if (since < ownSums.trackedFrom - 1) return { confirmed: since, isSuspect: true };
  let confirmed = seq;
  let isSuspect = false;
  for (const { id, sum, seqs } of ownSums.spans) {
    if (seqs === null || seqs[1] <= since || peerSums.get(id) === sum) continue;
    confirmed = Math.min(confirmed, seqs[0] - 1);
    const ends = [id * recentSpanMs, (id + 1) * recentSpanMs - 1];
    if (ends.every((ms) => stampAge(ms, nowMs) === 'settled')) isSuspect = true;
  }
  return { confirmed: Math.max(since, confirmed), isSuspect };
}
