// The shape of staged changes in builder.json; whether they fit, applyChanges says. Pure.
import { splitPartsMax, tokensPerDeviceMax } from '@ringwright/base/limits';
import { sizesSchema } from '@ringwright/builder/state/state-json';
import { deviceAddressSchema, deviceSchema } from '@ringwright/ring/device-fields';
import { z } from 'zod';

const { id, weight } = deviceSchema.shape;
/** An empty key is taken away, and so is a replication address that is null. */
const key = deviceSchema.shape.key.unwrap();
const replication = deviceSchema.shape.replication.unwrap();

export const changeSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('add'),
    device: z.strictObject(deviceSchema.shape),
    tokens: z.array(z.int().min(0)).max(tokensPerDeviceMax).exactOptional(),
    replaces: id.exactOptional(),
  }),
  z.strictObject({ kind: z.literal('remove'), id }),
  z.strictObject({ kind: z.literal('set-weight'), id, weight }),
  z.strictObject({
    kind: z.literal('set-device'),
    id,
    fields: z
      .strictObject({
        ...deviceAddressSchema.shape,
        key: z.union([key, z.literal('')]),
        replication: replication.nullable(),
      })
      .partial(),
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
  z.strictObject({
    kind: z.literal('split'),
    partition: z.int().min(0),
    at: z.array(z.union([z.int().min(0), z.string()])).max(splitPartsMax - 1),
  }),
  z.strictObject({
    kind: z.literal('merge'),
    partitions: z.tuple([z.int().min(0), z.int().min(0)]),
  }),
  z.strictObject({ kind: z.literal('retire'), before: z.string() }),
  z.strictObject({
    kind: z.literal('pin'),
    pin: z.strictObject({ partition: z.int().min(0), on: z.array(id), off: z.array(id) }),
  }),
  z.strictObject({
    kind: z.literal('set'),
    settings: z
      .strictObject({
        replicas: z.number(),
        minPartHours: z.number(),
        overload: z.number(),
        zonesMin: z.number(),
        restedThrough: z.int().min(0),
        partitionPower: z.int().min(0),
        sizes: sizesSchema.nullable(),
      })
      .partial(),
  }),
]);

export const stagedSchema = z.strictObject({
  command: z.string(),
  user: z.string().optional(),
  time: z.iso.datetime().optional(),
  changes: z.array(changeSchema),
});
