// Schemas of interval partitioners in JSON, for builder states and for imported rings. Pure.
import { partitionCountMax } from '@ringwright/base/limits';
import { intervalHashes } from '@ringwright/ring/partitioner/partitioner';
import { z } from 'zod';

const wholeNumber = z.number().int().nonnegative();
const ids = z.array(wholeNumber).max(partitionCountMax).exactOptional();

export const hashIntervalsSchema = z.strictObject({
  kind: z.literal('hash-intervals'),
  hash: z.enum(intervalHashes),
  hashKey: z.string().exactOptional(),
  partitions: wholeNumber,
  ends: z.array(wholeNumber).max(partitionCountMax).exactOptional(),
  ids,
});

export const rangesSchema = z.strictObject({
  kind: z.literal('ranges'),
  partitions: wholeNumber,
  starts: z.array(z.string()).max(partitionCountMax),
  retiredBefore: z.string().exactOptional(),
  ids,
});
