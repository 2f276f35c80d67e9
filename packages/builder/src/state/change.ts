// A staged change: an operator requested it, and a commit applies it. Changes apply in order. Pure
// data.
import { splitPartsMax, tokensPerDeviceMax } from '@ringwright/base/limits';
import { deviceSchema } from '@ringwright/ring/device-fields';
import { z } from 'zod';
import { sizesSchema } from './builder-state.ts';
import type { Immutable } from './immutable.ts';

const { id, weight, region, zone, ip, port, device, meta } = deviceSchema.shape;
/** In `set-device`, an empty key removes the key, and null removes the replication address. */
const key = deviceSchema.shape.key.unwrap();
const replication = deviceSchema.shape.replication.unwrap();

/** Checks the form only. applyChanges decides whether a change fits the state. */
export const changeSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('add'),
    device: z.strictObject(deviceSchema.shape),
    tokens: z.array(z.int().min(0)).max(tokensPerDeviceMax).exactOptional(),
    /** A device that leaves. The new device takes over its slots, its tokens and its pins. */
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
  /** `at`: the hashes after which, or the keys before which, the partition is cut. */
  z.strictObject({
    kind: z.literal('split'),
    partition: z.int().min(0),
    at: z.array(z.union([z.int().min(0), z.string()])).max(splitPartsMax - 1),
  }),
  z.strictObject({
    kind: z.literal('merge'),
    partitions: z.tuple([z.int().min(0), z.int().min(0)]),
  }),
  /** Retires the ranges that lie before a key, with their records. */
  z.strictObject({ kind: z.literal('retire'), before: z.string() }),
  /** Replaces the pins of the partition; empty lists unpin it. */
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
      /** Minimum zones per partition; 0 removes the rule. */
      zonesMin: z.number().exactOptional(),
      restedThrough: z.int().min(0).exactOptional(),
      /** Splits or merges all partitions until there are 2 to this power. */
      partitionPower: z.int().min(0).exactOptional(),
      /** Null removes the sizes: plans balance slot counts only. */
      sizes: sizesSchema.nullable().exactOptional(),
    }),
  }),
]);

export type Change = Immutable<z.infer<typeof changeSchema>>;

/** The fields of a device that `set-device` changes. */
export type DeviceFields = Extract<Change, { kind: 'set-device' }>['fields'];

/** The changes of one command, with the command line as typed. */
export const stagedSchema = z.strictObject({
  command: z.string(),
  /** The user who typed the command, and when; absent in files of older releases. */
  user: z.string().exactOptional(),
  time: z.iso.datetime().exactOptional(),
  changes: z.array(changeSchema),
});

export type Staged = Immutable<z.infer<typeof stagedSchema>>;
