// What the builder knows beyond the ring: settings and devices. In builder.json and in ring files.
import { deviceCountMax } from '@ringwright/base/limits';
import { measuredPartitionsMax, sizeLevelMax, swapBudgetMax } from '@ringwright/base/limits-rings';
import type { Device } from '@ringwright/ring/device';
import type { Partitioner } from '@ringwright/ring/partitioner/partitioner';
import { z } from 'zod';
import type { Immutable } from './immutable.ts';
import type { SwiftState } from './swift-state.ts';

const whole = z.number().int().nonnegative();
const positive = z.number().nonnegative();

export const rampSchema = z.strictObject({
  target: positive,
  /** Most weight that one version adds or takes. */
  step: positive,
  /** Hours since 1970 between which versions take steps. */
  fromHour: whole,
  untilHour: whole,
});
export type WeightRamp = Immutable<z.infer<typeof rampSchema>>;

/** Devices that must, and that must not, hold a partition. */
export const pinSchema = z.strictObject({
  partition: whole,
  on: z.array(whole),
  off: z.array(whole),
});
export type Pin = Immutable<z.infer<typeof pinSchema>>;

/** Measured once and kept, so that the same plan is made again from the state alone. */
export const sizesSchema = z.strictObject({
  /** Hours since 1970. */
  measuredHour: whole,
  /** Bytes of one level. */
  unit: z.int().positive(),
  /** By partition id, rounded to levels; null where no server told it. */
  levels: z.array(z.int().min(0).max(sizeLevelMax).nullable()).max(measuredPartitionsMax),
  /** Moves that a version may make beyond the fewest, to even out bytes; absent: none. */
  swapBudget: z.int().min(1).max(swapBudgetMax).exactOptional(),
});
export type PartitionSizes = Immutable<z.infer<typeof sizesSchema>>;

/** A ring as part of a composite one. */
export const componentSchema = z.strictObject({
  ring: z.string(),
  version: z.int().positive(),
  /** Ring id of that version. */
  id: z.string(),
  replicas: z.int().positive(),
  /** By device id there: the id here. */
  devices: z.array(whole.nullable()).max(deviceCountMax),
});
export type Component = Immutable<z.infer<typeof componentSchema>>;

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

type DeviceHold = 'no-target' | 'maintenance';

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
