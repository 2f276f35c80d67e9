// A staged change: what an operator asked for and a commit will apply, in order. Pure data.
import { splitPartsMax, tokensPerDeviceMax } from '@ringwright/base/limits';
import { deviceSchema } from '@ringwright/ring/device-fields';
import { z } from 'zod';
import { sizesSchema } from './builder-state.ts';
import type { Immutable } from './immutable.ts';

const { id, weight, region, zone, ip, port, device, meta } = deviceSchema.shape;
/** An empty key is taken away, and so is a replication address that is null. */
const key = deviceSchema.shape.key.unwrap();
const replication = deviceSchema.shape.replication.unwrap();

/** Whether a change fits, applyChanges says. */
export const changeSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('add'),
    device: z.strictObject(deviceSchema.shape),
    tokens: z.array(z.int().min(0)).max(tokensPerDeviceMax).exactOptional(),
    /** A device that leaves: the new one takes its slots, its tokens and its place in pins. */
    replaces: id.exactOptional(),
  }),
  z.strictObject({ kind: z.literal('remove'), id }),
  z.strictObject({ kind: z.literal('set-weight'), id, weight }),
  z.strictObject({
    kind: z.literal('set-device'),
    id,
    fields: z.strictObject({
      region: region.exactOptional(),
      zone: zone.exactOptional(),
      ip: ip.exactOptional(),
      port: port.exactOptional(),
      device: device.exactOptional(),
      meta: meta.exactOptional(),
      key: z.union([key, z.literal('')]).exactOptional(),
      replication: replication.nullable().exactOptional(),
    }),
  }),
  z.strictObject({
    kind: z.literal('hold'),
    id,
    hold: z.enum(['no-target', 'maintenance']).nullable(),
  }),
  z.strictObject({
    kind: z.literal('ramp'),
    id,
    ramp: z
      .strictObject({ target: weight, step: weight, fromHour: z.int(), untilHour: z.int() })
      .nullable(),
  }),
  /** Behind which hashes, or before which keys, a partition is cut. */
  z.strictObject({
    kind: z.literal('split'),
    partition: z.int().min(0),
    at: z.array(z.union([z.int().min(0), z.string()])).max(splitPartsMax - 1),
  }),
  z.strictObject({
    kind: z.literal('merge'),
    partitions: z.tuple([z.int().min(0), z.int().min(0)]),
  }),
  /** Ranges that lie before a key are given up with their records. */
  z.strictObject({ kind: z.literal('retire'), before: z.string() }),
  /** Replaces what is pinned of the partition; empty lists unpin it. */
  z.strictObject({
    kind: z.literal('pin'),
    pin: z.strictObject({ partition: z.int().min(0), on: z.array(id), off: z.array(id) }),
  }),
  z.strictObject({
    kind: z.literal('set'),
    settings: z.strictObject({
      replicas: z.number().exactOptional(),
      minPartHours: z.number().exactOptional(),
      overload: z.number().exactOptional(),
      /** 0 gives the rule up. */
      zonesMin: z.number().exactOptional(),
      restedThrough: z.int().min(0).exactOptional(),
      /** All partitions are split, or merged, to 2 to this power. */
      partitionPower: z.int().min(0).exactOptional(),
      /** Null: counts decide alone again. */
      sizes: sizesSchema.nullable().exactOptional(),
    }),
  }),
]);

export type Change = Immutable<z.infer<typeof changeSchema>>;

/** Changes that one command asked for, with the command as typed. */
export const stagedSchema = z.strictObject({
  command: z.string(),
  /** Who typed it and when; absent in files from before it was noted. */
  user: z.string().exactOptional(),
  time: z.iso.datetime().exactOptional(),
  changes: z.array(changeSchema),
});

export type Staged = Immutable<z.infer<typeof stagedSchema>>;
