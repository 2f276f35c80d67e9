// What the builder knows beyond the ring: settings and devices. In builder.json and in ring files.
import type { Device } from '@ringwright/ring/device';
import type { Partitioner } from '@ringwright/ring/partitioner/partitioner';

export interface BuilderDevice extends Device {
  /** `removed`: gone or failed, given nothing; a hole when its last slot has moved away. */
  readonly state: 'active' | 'removed';
  /**
   * `no-target`: gives slots away as usual, but gets none. `maintenance`: keeps exactly what it
   * has. Absent: neither.
   */
  readonly hold?: DeviceHold;
  /** Where the weight is on its way to, by steps of later versions; absent when it is there. */
  readonly ramp?: WeightRamp;
  /** Where it stands on the circle of hashes, in rings that are placed by tokens. */
  readonly tokens?: readonly number[];
  /** Of a removed device: the one that takes its slots over, as far as shares let it. */
  readonly replacedBy?: number;
}

export type DeviceHold = 'no-target' | 'maintenance';

export interface WeightRamp {
  readonly target: number;
  /** Most weight that one version adds or takes. */
  readonly step: number;
  /** Hours since 1970 between which versions take steps. */
  readonly fromHour: number;
  readonly untilHour: number;
}

/** Devices that must, and that must not, hold a partition. */
export interface Pin {
  readonly partition: number;
  readonly on: readonly number[];
  readonly off: readonly number[];
}

export interface BuilderState {
  readonly ring: string;
  readonly cluster: string;
  readonly partitioner: Partitioner;
  readonly replicas: number;
  /** `tokens`: a clockwise walk from a partition's end finds its devices; absent: shares decide. */
  readonly placement?: 'tokens';
  /** A partition that moved may not move again for this many hours; 0 switches the rule off. */
  readonly minPartHours: number;
  /** How far above its weighted share a device may go for the sake of dispersion: 0.1 is 10 %. */
  readonly overload: number;
  /** By device id; null is a hole, never filled again. */
  readonly devices: readonly (BuilderDevice | null)[];
  /** Of a ring imported from Swift: what only Swift uses, for exports back. */
  readonly swift?: SwiftState;
  /** Fewest zones over which every partition must be spread; absent: as many as weights permit. */
  readonly zonesMin?: number;
  /** By partition, ascending; absent when there are none. */
  readonly pins?: readonly Pin[];
  /** Of a composite ring: what its rows are those of, in order; absent: it is its own. */
  readonly components?: readonly Component[];
  /** Versions up to this one count as older than minPartHours: somebody said so. */
  readonly restedThrough?: number;
  /** Sizes by which plans even out bytes; absent: counts decide alone. */
  readonly sizes?: PartitionSizes;
}

/** Measured once and kept, so that the same plan is made again from the state alone. */
export interface PartitionSizes {
  /** Hours since 1970. */
  readonly measuredHour: number;
  /** Bytes of one level. */
  readonly unit: number;
  /** By partition id, rounded to levels; null where no server told it. */
  readonly levels: readonly (number | null)[];
  /** Moves that a version may make beyond the fewest, to even out bytes; absent: none. */
  readonly swapBudget?: number;
}

/** A ring as part of a composite one. */
export interface Component {
  readonly ring: string;
  readonly version: number;
  /** Ring id of that version. */
  readonly id: string;
  readonly replicas: number;
  /** By device id there: the id here. */
  readonly devices: readonly (number | null)[];
}

export interface SwiftState {
  /** Swift's own version number of what became version 1 here; absent in its oldest files. */
  readonly version?: number;
  /** Swift was in the middle of raising its partition power to this. */
  readonly nextPartPower?: number;
  /** Identity of the builder file, which composite rings ask for. */
  readonly id?: string;
  /** Where Swift's next search for partitions to move would begin. */
  readonly gatherStart?: number;
  /** Devices or settings had changed since Swift's last rebalance. */
  readonly changed?: boolean;
  readonly lastMoves?: LastMoves;
  /** Absent where the count is a float and all of it is placed. */
  readonly replicas?: SwiftReplicas;
  /** As of Swift's last rebalance; version 1 still has it. */
  readonly dispersion?: number;
  /** More hours than minPartHours here may be, which has the most instead. */
  readonly minPartHours?: number;
  /** Its files have wider device ids than the devices ask. */
  readonly idBytes?: 4;
}

/** How Swift has a replica count of which the ring has what is placed. */
export interface SwiftReplicas {
  readonly wanted: number;
  readonly placed: number;
  /** Written as an int instead of a float. */
  readonly int: boolean;
  /** The table has a row more, without a slot. */
  readonly emptyRow: boolean;
}

/** When each partition moved last, before version 1. */
export interface LastMoves {
  /** Seconds since 1970; 0 when long ago. */
  readonly epoch: number;
  /** By partition, as [partitions, hours between their last move and epoch]; 255 is 255 or more. */
  readonly runs: readonly (readonly [partitions: number, hours: number])[];
}
