// Keys of a partition in key order, without their values: what a listing is merged from. Pure.
import { keyBytesMax, listKeysMax } from '@ringwright/base/limits';
import { z } from 'zod';
import { bytesField, keyField, msField, partitionFields, tieField } from './fields.ts';
import { messageKind } from './message.ts';

const listedKey = z.tuple([keyField, msField, tieField, z.boolean().meta({ means: 'deleted' })]);

export const keysAfter = messageKind({
  method: 'keys-after',
  request: z.strictObject({
    ...partitionFields,
    /** Keys above this one; empty for the first. */
    after: bytesField('key or nothing', 0, keyBytesMax),
    limit: z.int().min(1).max(listKeysMax),
  }),
  answer: z.strictObject({ keys: z.array(listedKey).max(listKeysMax), more: z.boolean() }),
});
