// What the builder knows beyond the ring: settings and devices. In builder.json and in ring files.
import type { Device } from '@ringwright/ring/device';
import type { Partitioner } from '@ringwright/ring/partitioner';

export interface BuilderDevice extends Device {
  /** `removed`: gone or failed, given nothing; it becomes a hole when its last slot has moved away. */
  readonly state: 'active' | 'removed';
}

export interface BuilderState {
  readonly ring: string;
  readonly cluster: string;
  readonly partitioner: Partitioner;
  readonly replicas: number;
  /** A partition that moved may not move again for this many hours; 0 switches the rule off. */
  readonly minPartHours: number;
  /** How far above its weighted share a device may go for the sake of dispersion: 0.1 is 10 %. */
  readonly overload: number;
  /** By device id; null is a hole, never filled again. */
  readonly devices: readonly (BuilderDevice | null)[];
  /** Of a ring imported from Swift: what only Swift uses, for exports back. */
  readonly swift?: SwiftState;
}

export interface SwiftState {
  /** Swift's own version number of what became version 1 here. */
  readonly version: number;
  /** Swift was in the middle of raising its partition power to this. */
  readonly nextPartPower?: number;
  /** Identity of the builder file, which composite rings ask for. */
  readonly id?: string;
  /** Where Swift's next search for partitions to move would begin. */
  readonly gatherStart?: number;
  readonly lastMoves?: LastMoves;
}

/** When each partition moved last, before version 1. */
export interface LastMoves {
  /** Seconds since 1970; 0 when long ago. */
  readonly epoch: number;
  /** By partition, as [partitions, hours between their last move and epoch]; 255 is 255 or more. */
  readonly runs: readonly (readonly [partitions: number, hours: number])[];
}
