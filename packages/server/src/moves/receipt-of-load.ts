// What a joiner states about a completed load: the receipt of its move, not yet signed. Pure.
import { must } from '@ringwright/base/assert';
import type { PartitionInfo } from '@ringwright/partition/file/partition-info';
import type { Move } from '@ringwright/ring/move';
import type { MoveReceipt } from '@ringwright/ring/trust/move-receipt';
import type { ActiveRing } from '../rings/active-ring.ts';
import type { Loaded } from './load-partition.ts';

export type LoadReceipt = Omit<MoveReceipt, 'key' | 'born' | 'ms'>;

export function receiptOfLoad(
  { ring, id }: ActiveRing,
  move: Move,
  {
    loaded,
    info,
    forceReason,
  }: {
    readonly loaded: Loaded;
    readonly info: PartitionInfo | null;
    readonly forceReason: string | null;
  },
): LoadReceipt {
  const { partition, replica, assignment, from, to } = move;
  const { cluster, keyspace, version } = ring;
  const file = must(info, `partition ${partition} has a file when its load has ended`);
  const { incarnation, seq, digest, rows, bytes } = file;
  return {
    ...{ cluster, keyspace, version, ring: id },
    ...{ partition, replica, assignment, from, to },
    copy: loaded.copy,
    merged: [...loaded.merged],
    forced: loaded.isForced === true ? forceReason : null,
    file: { incarnation, seq, digest, rows, bytes },
  };
}
