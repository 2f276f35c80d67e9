// The devices and settings from which the builder computes the next version of a ring. They are
// stored in builder.json and in ring files.
import { deviceCountMax } from '@ringwright/base/limits';
import { measuredPartitionsMax, sizeLevelMax, swapBudgetMax } from '@ringwright/base/limits-rings';
import type { Device } from '@ringwright/ring/device';
import type { Partitioner } from '@ringwright/ring/partitioner/partitioner';
import { z } from 'zod';
import type { Immutable } from './immutable.ts';
import type { SwiftState } from './swift-state.ts';

const wholeNumber = z.number().int().nonnegative();
const positive = z.number().nonnegative();

export const rampSchema = z.strictObject({
  target: positive,
  /** Maximum change of the weight in one version. */
  step: positive,
  /** Window in hours since 1970. Only versions committed inside it take a step. */
  fromHour: wholeNumber,
  untilHour: wholeNumber,
});
export type WeightRamp = Immutable<z.infer<typeof rampSchema>>;

/** Devices that must hold a partition, and devices that must not. */
export const pinSchema = z.strictObject({
  partition: wholeNumber,
  on: z.array(wholeNumber),
  off: z.array(wholeNumber),
});
export type Pin = Immutable<z.infer<typeof pinSchema>>;

/** Partition sizes, measured once and stored, so that the state alone reproduces the same plan. */
export const sizesSchema = z.strictObject({
  /** Time of the measurement, in hours since 1970. */
  measuredHour: wholeNumber,
  /** Bytes per level. */
  unit: z.int().positive(),
  /** Size by partition id, rounded to levels; null where no server reported a size. */
  levels: z.array(z.int().min(0).max(sizeLevelMax).nullable()).max(measuredPartitionsMax),
  /** Moves that a version may make beyond the minimum to even out bytes; absent: none. */
  swapBudget: z.int().min(1).max(swapBudgetMax).exactOptional(),
});
export type PartitionSizes = Immutable<z.infer<typeof sizesSchema>>;

/** A ring that is one component of a composite ring. */
export const componentSchema = z.strictObject({
  ring: z.string(),
  version: z.int().positive(),
  /** Ring id of that version. */
  id: z.string(),
  replicas: z.int().positive(),
  /** By device id in the component: the id in the composite ring. */
  devices: z.array(wholeNumber.nullable()).max(deviceCountMax),
});
export type Component = Immutable<z.infer<typeof componentSchema>>;

export interface BuilderDevice extends Device {
  /** `removed`: gone or failed, and assigned no slots. It becomes a hole after its last move. */
  readonly state: 'active' | 'removed';
  /**
   * `no-target`: gives slots away as usual, but gets none. `maintenance`: keeps exactly the slots
   * that it has. Absent: neither.
   */
  readonly hold?: DeviceHold;
  /** Steps by which later versions change the weight; absent when it has reached the target. */
  readonly ramp?: WeightRamp;
  /** Positions on the circle of hashes, in rings that are placed by tokens. */
  readonly tokens?: readonly number[];
  /** For a removed device: the heir, which takes over its slots as far as shares permit. */
  readonly replacedBy?: number;
}

type DeviceHold = 'no-target' | 'maintenance';

export interface BuilderState {
  readonly ring: string;
  readonly cluster: string;
  readonly partitioner: Partitioner;
  readonly replicas: number;
  /** `tokens`: a clockwise walk from a partition's end finds its devices. Absent: shares decide. */
  readonly placement?: 'tokens';
  /** Hours for which a partition that moved may not move again; 0 switches the rule off. */
  readonly minPartHours: number;
  /** How far a device may exceed its weighted share to improve dispersion: 0.1 is 10 %. */
  readonly overload: number;
  /** By device id; null is a hole, which is never filled again. */
  readonly devices: readonly (BuilderDevice | null)[];
  /** For a ring imported from Swift: fields that only Swift uses, kept for export. */
  readonly swift?: SwiftState;
  /** Minimum number of zones of every partition; absent: as many as weights permit. */
  readonly zonesMin?: number;
  /** Sorted by partition; absent when there are no pins. */
  readonly pins?: readonly Pin[];
  /** For a composite ring: the rings that supply its rows, in order; absent for any other ring. */
  readonly components?: readonly Component[];
  /** Versions up to this one count as older than minPartHours, because an operator said so. */
  readonly restedThrough?: number;
  /** Sizes by which plans even out bytes; absent: plans balance slot counts only. */
  readonly sizes?: PartitionSizes;
  /** Only in the dense state of a plan, never stored: by column, the id that messages name. */
  readonly columnIds?: readonly number[];
}
