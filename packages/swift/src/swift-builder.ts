// A builder as Swift's builder files hold it, already checked. Pure data.

import type { Table } from '@ringwright/ring/ring';
import type { SwiftRing } from './swift-ring.ts';

export interface SwiftBuilder extends Omit<SwiftRing, 'table' | 'version'> {
  readonly version: number;
  /** As wanted; the table may still have what was wanted before. */
  readonly replicas: number;
  /** Written as an int, where Swift's own tool writes a float. */
  readonly replicasInt: boolean;
  readonly minPartHours: number;
  readonly overload: number;
  /** Null before the first rebalance. */
  readonly table: Table | null;
  /** Ids of devices that the next rebalance takes out of the ring. */
  readonly removed: readonly number[];
  /** Hours between the last move of each partition and `lastMovesEpoch`; 255 is 255 or more. */
  readonly lastMoves: Uint8Array;
  /** Seconds since 1970; 0 when never. */
  readonly lastMovesEpoch: number;
  readonly lastGatherStart: number;
  /** Devices or settings changed since the last rebalance. */
  readonly changed: boolean;
  readonly id: string | null;
  /** As of the last rebalance; null when Swift shall compute it. */
  readonly dispersion: number | null;
}
