// The shape of staged changes in builder.json; whether they fit, applyChanges says. Pure.
import { deviceAddressSchema, deviceSchema } from '@ringwright/ring/device-fields';
import { z } from 'zod';

const { id, weight } = deviceSchema.shape;

const changeSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('add'), device: z.strictObject(deviceSchema.shape) }),
  z.strictObject({ kind: z.literal('remove'), id }),
  z.strictObject({ kind: z.literal('set-weight'), id, weight }),
  z.strictObject({
    kind: z.literal('set-device'),
    id,
    fields: z.strictObject(deviceAddressSchema.shape).partial(),
  }),
  z.strictObject({
    kind: z.literal('set'),
    settings: z
      .strictObject({ replicas: z.number(), minPartHours: z.number(), overload: z.number() })
      .partial(),
  }),
]);

export const stagedSchema = z.strictObject({
  command: z.string(),
  changes: z.array(changeSchema),
});
