// Fields of a ring imported from Swift that only Swift uses, kept for export.
import { partitionCountMax } from '@ringwright/base/limits';
import { z } from 'zod';
import type { Immutable } from './immutable.ts';

const wholeNumber = z.number().int().nonnegative();
const positive = z.number().nonnegative();
const partitions = z.int().positive();
const hours = z.int().min(0).max(255);

/** When each partition last moved before version 1. */
const lastMovesSchema = z.strictObject({
  /** Seconds since 1970; 0 when the last moves were long ago. */
  epoch: wholeNumber,
  /** Runs by partition: [partitions, hours from their last move to epoch]; 255: 255 or more. */
  runs: z.array(z.tuple([partitions, hours])).max(partitionCountMax),
});
export type LastMoves = Immutable<z.infer<typeof lastMovesSchema>>;

/** Swift's replica count, where the ring here records only the replicas that are placed. */
const replicasSchema = z.strictObject({
  wanted: positive,
  placed: positive,
  /** Written as an integer instead of a float. */
  int: z.boolean(),
  /** The table has one more row, without slots. */
  emptyRow: z.boolean(),
});
export type SwiftReplicas = Immutable<z.infer<typeof replicasSchema>>;

export const swiftSchema = z.strictObject({
  /** Swift's own number of the version that became version 1 here; absent in its oldest files. */
  version: wholeNumber.exactOptional(),
  /** Target of a partition power increase that was running in Swift. */
  nextPartPower: wholeNumber.exactOptional(),
  /** Identity of the builder file, which composite rings require. */
  id: z.string().max(128).exactOptional(),
  /** Partition at which Swift's next search for partitions to move begins. */
  gatherStart: wholeNumber.exactOptional(),
  /** Whether devices or settings changed after Swift's last rebalance. */
  changed: z.boolean().exactOptional(),
  lastMoves: lastMovesSchema.exactOptional(),
  /** Absent when the count is a float and all replicas are placed. */
  replicas: replicasSchema.exactOptional(),
  /** Dispersion after Swift's last rebalance; still correct for version 1. */
  dispersion: positive.exactOptional(),
  /** Swift's value, if it exceeds the maximum of minPartHours, which then has the maximum. */
  minPartHours: wholeNumber.exactOptional(),
  /** Set when its files use wider device ids than the devices need. */
  idBytes: z.literal(4).exactOptional(),
});
export type SwiftState = Immutable<z.infer<typeof swiftSchema>>;
