// Converts a builder state to canonical bytes, the builder section of a ring file, and back. Pure.
import { canonicalJson, type Json } from '@ringwright/base/canonical-json';
import { CodedError } from '@ringwright/base/coded-error';
import {
  deviceCountMax,
  deviceWeightMax,
  pinCountMax,
  replicaCountMax,
  tokensPerDeviceMax,
} from '@ringwright/base/limits';
import { parseJson } from '@ringwright/base/parse-json';
import { deviceExtraSchema } from '@ringwright/ring/device-extra';
import { issueSentence } from '@ringwright/ring/issue-sentence';
import type { Partitioner } from '@ringwright/ring/partitioner/partitioner';
import type { PartitionerSettings } from '@ringwright/ring/partitioner/partitioner-settings';
import { z } from 'zod';
import {
  type BuilderState,
  componentSchema,
  pinSchema,
  rampSchema,
  sizesSchema,
} from './builder-state.ts';
import { hashIntervalsSchema, rangesSchema } from './interval-schemas.ts';
import { swiftSchema } from './swift-state.ts';

const wholeNumber = z.number().int().nonnegative();
const positive = z.number().nonnegative();

const deviceSchema = z.strictObject({
  id: wholeNumber,
  region: wholeNumber,
  zone: wholeNumber,
  ip: z.string(),
  port: wholeNumber,
  device: z.string(),
  weight: positive.max(deviceWeightMax),
  meta: z.string(),
  key: z.string().exactOptional(),
  replication: z.strictObject({ ip: z.string(), port: wholeNumber }).exactOptional(),
  extra: deviceExtraSchema.exactOptional(),
  state: z.enum(['active', 'removed']),
  hold: z.enum(['no-target', 'maintenance']).exactOptional(),
  ramp: rampSchema.exactOptional(),
  tokens: z.array(wholeNumber).min(1).max(tokensPerDeviceMax).exactOptional(),
  replacedBy: wholeNumber.exactOptional(),
});

const partitionerSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('md5-shift'),
    power: wholeNumber,
    prefix: z.string(),
    suffix: z.string(),
  }),
  z.strictObject({ kind: z.literal('murmur3-mod'), partitions: wholeNumber, seed: wholeNumber }),
  hashIntervalsSchema,
  rangesSchema,
]);

const stateSchema = z.strictObject({
  ring: z.string(),
  cluster: z.string(),
  partitioner: partitionerSchema,
  replicas: positive,
  placement: z.literal('tokens').exactOptional(),
  minPartHours: wholeNumber,
  overload: positive,
  devices: z.array(deviceSchema.nullable()).max(deviceCountMax),
  swift: swiftSchema.exactOptional(),
  zonesMin: wholeNumber.exactOptional(),
  pins: z.array(pinSchema).max(pinCountMax).exactOptional(),
  restedThrough: wholeNumber.exactOptional(),
  sizes: sizesSchema.exactOptional(),
  components: z.array(componentSchema).min(1).max(replicaCountMax).exactOptional(),
});

/** Returns the canonical bytes: equal states give equal bytes. */
export function serializeState(
  state: BuilderState,
  /** Replaces the state's own partitioner where another ring section stores the boundaries. */
  partitioner: Partitioner | PartitionerSettings = state.partitioner,
): Uint8Array {
  // A state is plain data of numbers and strings; an interface lacks Json's index signature.
  return new TextEncoder().encode(canonicalJson({ ...state, partitioner } as unknown as Json));
}

export function sameState(one: BuilderState, other: BuilderState): boolean {
  return Buffer.compare(serializeState(one), serializeState(other)) === 0;
}

/** Parses the bytes of `serializeState`. Throws RING_FILE_INVALID with the wrong field. */
export function parseState(bytes: Uint8Array): BuilderState {
  const value = parseJson(
    bytes,
    (cause) => new CodedError('RING_FILE_INVALID', 'the builder state is not JSON', { cause }),
  );
  const parsed = stateSchema.safeParse(value);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const path = issue?.path.join('.') || 'its top level';
    throw new CodedError(
      'RING_FILE_INVALID',
      `the builder state is invalid at ${path}: ${issue === undefined ? 'unknown fault' : issueSentence(issue)}`,
    );
  }
  const misplaced = parsed.data.devices.findIndex((device, id) => device && device.id !== id);
  if (misplaced >= 0) {
    const id = parsed.data.devices[misplaced]?.id;
    throw new CodedError('RING_FILE_INVALID', `device ${id} stands in place ${misplaced}`);
  }
  return parsed.data;
}
