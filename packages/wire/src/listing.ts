// Keys of a partition in key order, without their values: what a listing is merged from. Pure.
import { listKeysMax } from '@ringwright/base/limits';
import { z } from 'zod';
import { afterField, keyField, msField, partitionFields, tieField } from './fields.ts';
import { messageKind } from './message.ts';

const listedKey = z.tuple([keyField, msField, tieField, z.boolean().meta({ means: 'deleted' })]);

export const keysAfter = messageKind({
  method: 'keys-after',
  request: z.strictObject({
    ...partitionFields,
    after: afterField,
    limit: z.int().min(1).max(listKeysMax),
    /** What has expired by then is told as deleted. */
    nowMs: msField,
  }),
  answer: z.strictObject({ keys: z.array(listedKey).max(listKeysMax), more: z.boolean() }),
});
