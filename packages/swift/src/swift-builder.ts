// A builder with the contents of Swift's builder file, already checked. Pure data.

import type { Table } from '@ringwright/ring/ring';
import type { SwiftRing } from './swift-ring.ts';

export interface SwiftBuilder extends Omit<SwiftRing, 'table' | 'version'> {
  readonly version: number;
  /** Wanted replica count; the table may still have the earlier one. */
  readonly replicas: number;
  /** Written as an integer, where Swift's own tool writes a float. */
  readonly replicasInt: boolean;
  readonly minPartHours: number;
  readonly overload: number;
  /** Null before the first rebalance. */
  readonly table: Table | null;
  /** Ids of devices that the next rebalance takes out of the ring. */
  readonly removed: readonly number[];
  /** Hours between the last move of each partition and `lastMovesEpoch`; 255 is 255 or more. */
  readonly lastMoves: Uint8Array;
  /** Seconds since 1970; 0 when no partition ever moved. */
  readonly lastMovesEpoch: number;
  readonly lastGatherStart: number;
  /** Whether devices or settings changed after the last rebalance. */
  readonly changed: boolean;
  readonly id: string | null;
  /** Dispersion after the last rebalance; null when Swift is to compute it. */
  readonly dispersion: number | null;
}
