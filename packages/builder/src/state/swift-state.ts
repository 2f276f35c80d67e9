// Of a ring imported from Swift: what only Swift uses, kept for exports back.
import { partitionCountMax } from '@ringwright/base/limits';
import { z } from 'zod';
import type { Immutable } from './immutable.ts';

const whole = z.number().int().nonnegative();
const positive = z.number().nonnegative();
const partitions = z.int().positive();
const hours = z.int().min(0).max(255);

/** When each partition moved last, before version 1. */
const lastMovesSchema = z.strictObject({
  /** Seconds since 1970; 0 when long ago. */
  epoch: whole,
  /** By partition, as [partitions, hours between their last move and epoch]; 255 is 255 or more. */
  runs: z.array(z.tuple([partitions, hours])).max(partitionCountMax),
});
export type LastMoves = Immutable<z.infer<typeof lastMovesSchema>>;

/** How Swift has a replica count of which the ring has what is placed. */
const replicasSchema = z.strictObject({
  wanted: positive,
  placed: positive,
  /** Written as an int instead of a float. */
  int: z.boolean(),
  /** The table has a row more, without a slot. */
  emptyRow: z.boolean(),
});
export type SwiftReplicas = Immutable<z.infer<typeof replicasSchema>>;

export const swiftSchema = z.strictObject({
  /** Swift's own version number of what became version 1 here; absent in its oldest files. */
  version: whole.exactOptional(),
  /** Swift was in the middle of raising its partition power to this. */
  nextPartPower: whole.exactOptional(),
  /** Identity of the builder file, which composite rings ask for. */
  id: z.string().max(128).exactOptional(),
  /** Where Swift's next search for partitions to move would begin. */
  gatherStart: whole.exactOptional(),
  /** Devices or settings had changed since Swift's last rebalance. */
  changed: z.boolean().exactOptional(),
  lastMoves: lastMovesSchema.exactOptional(),
  /** Absent where the count is a float and all of it is placed. */
  replicas: replicasSchema.exactOptional(),
  /** As of Swift's last rebalance; version 1 still has it. */
  dispersion: positive.exactOptional(),
  /** More hours than minPartHours here may be, which has the most instead. */
  minPartHours: whole.exactOptional(),
  /** Its files have wider device ids than the devices ask. */
  idBytes: z.literal(4).exactOptional(),
});
export type SwiftState = Immutable<z.infer<typeof swiftSchema>>;
