// The body of a batch: gets, puts and deletes, with keys and values as text or in base64. Pure.
import { byteText } from '@ringwright/base/as-buffer';
import { checkKey } from '@ringwright/base/check-key';
import { CodedError } from '@ringwright/base/coded-error';
import { httpBatchItemsMax, httpBatchMarksMax, valueBytesMax } from '@ringwright/base/limits';
import { parseJson } from '@ringwright/base/parse-json';
import { parseStampOrTag } from '@ringwright/base/stamp';
import { issueSentence } from '@ringwright/ring/issue-sentence';
import type { Condition } from '@ringwright/wire/coordination';
import { z } from 'zod';

/** With or without padding. */
const base64 = z
  .string()
  .transform((text) => text.padEnd(4 * Math.ceil(text.length / 4), '='))
  .pipe(z.base64('is not base64: A-Z a-z 0-9 + / as in YQ=='))
  .transform((text) => new Uint8Array(Buffer.from(text, 'base64')));
/**
 * Half a surrogate pair has no UTF-8 form: two different texts of that kind would become the same
 * bytes.
 */
const textOf = (name: 'key' | 'value') =>
  z
    .string()
    .refine((text) => text.isWellFormed(), `is not text: send its bytes in base64, as ${name}64`)
    .transform((text) => new Uint8Array(Buffer.from(text)));

const keyForms = { key: textOf('key').optional(), key64: base64.optional() };
const conditionText = z.string().transform((text, context): Condition => {
  if (text === 'absent' || text === 'present') return text;
  const stamp = parseStampOrTag(text);
  if (stamp !== null) return stamp;
  const message = 'is neither absent, present nor the stamp or ETag of a record';
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
});
const condition = { if: conditionText.optional() };
const itemSchema = z.discriminatedUnion('op', [
  z.strictObject({ op: z.literal('get'), ...keyForms }),
  z.strictObject({ op: z.literal('delete'), ...keyForms, ...condition }),
  z.strictObject({
    op: z.literal('put'),
    ...keyForms,
    value: textOf('value').optional(),
    value64: base64.optional(),
    /** Time to live in seconds. */
    ttl: z.number().positive().optional(),
    ...condition,
  }),
]);
const batchSchema = z.strictObject({ items: z.array(itemSchema).min(1).max(httpBatchItemsMax) });

export interface BatchItem {
  readonly op: 'get' | 'put' | 'delete';
  readonly key: Uint8Array;
  /** The value of a put; null for other items. */
  readonly value: Uint8Array | null;
  readonly ttlMs?: number | undefined;
  readonly condition?: Condition | undefined;
}

/**
 * Returns the items of a body. Throws USAGE with the place of the first fault, BATCH_TOO_LARGE,
 * KEY_INVALID and VALUE_TOO_LARGE. The items of a batch have no order, so each key may occur only
 * once.
 */
export function parseBatch(body: Uint8Array): BatchItem[] {
  if (hasMoreMarks(body, httpBatchMarksMax)) {
    const message = `the batch has more values than ${httpBatchItemsMax} items can have`;
    throw new CodedError('BATCH_TOO_LARGE', message, { hint: 'split it' });
  }
  const parsed = batchSchema.safeParse(parseJson(body, unreadable));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    if (issue?.code === 'too_big' && issue.path.join() === 'items') {
      const message = `the batch has more than ${httpBatchItemsMax} items`;
      throw new CodedError('BATCH_TOO_LARGE', message, { hint: 'split it' });
    }
    const problem = issue === undefined ? 'is invalid' : issueSentence(issue);
    throw usage(`${issue?.path.join('.') || 'the batch'}: ${problem}`);
  }
  const seen = new Set<string>();
  return parsed.data.items.map((item, index) => {
    const key = oneOf(`items.${index}`, 'key', [item.key, item.key64]);
    checkKey(key, `items.${index}: `);
    const name = byteText(key);
    if (seen.has(name)) throw usage(`items.${index}: its key occurs twice in the batch`);
    seen.add(name);
    if (item.op === 'get') return { op: item.op, key, value: null };
    const commonFields = { op: item.op, key, condition: item.if };
    if (item.op === 'delete') return { ...commonFields, value: null };
    const value = oneOf(`items.${index}`, 'value', [item.value, item.value64]);
    const ttlMs = item.ttl === undefined ? undefined : Math.round(item.ttl * 1000);
    if (value.length <= valueBytesMax) return { ...commonFields, value, ttlMs };
    const message = `items.${index}: ${value.length} bytes; the maximum is ${valueBytesMax}`;
    throw new CodedError('VALUE_TOO_LARGE', message, { hint: 'split the value over several keys' });
  });
}

function unreadable(cause: unknown): CodedError {
  // Thrown by the decoder. The body would be stored as other bytes than were sent.
  if (cause instanceof TypeError) {
    const hint = 'send bytes that are not text in base64, as key64 and value64';
    return new CodedError('USAGE', 'the body is not UTF-8', { hint, cause });
  }
  return usage(`the body is not JSON: ${cause instanceof Error ? cause.message : 'unreadable'}`);
}

function oneOf(
  itemPath: string,
  name: string,
  [text, encoded]: readonly [Uint8Array | undefined, Uint8Array | undefined],
): Uint8Array {
  const bytes = text ?? encoded;
  if (bytes !== undefined && (text === undefined || encoded === undefined)) return bytes;
  throw usage(`${itemPath}: give either ${name} (text) or ${name}64 (base64)`);
}

function usage(message: string): CodedError {
  const hint = 'send {"items":[{"op":"put","key":"a","value":"b"},{"op":"get","key64":"Yw=="}]}';
  return new CodedError('USAGE', message, { hint });
}

const [QUOTE, COMMA, OPEN_LIST, BACKSLASH, OPEN_OBJECT] = [0x22, 0x2c, 0x5b, 0x5c, 0x7b];

/**
 * Whether the text has more than `marksMax` marks that begin a list, an object or another value.
 * This limits what one request makes the parser build, beyond the limit on bytes. Marks in strings
 * do not count. The result for a text that is not JSON is arbitrary.
 */
function hasMoreMarks(json: Uint8Array, marksMax: number): boolean {
  let marks = 0;
  let inString = false;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at];
    if (byte === QUOTE) inString = !inString;
    else if (inString) {
      if (byte === BACKSLASH) at += 1;
    } else if (byte === COMMA || byte === OPEN_LIST || byte === OPEN_OBJECT) {
      marks += 1;
      if (marks > marksMax) return true;
    }
  }
  return false;
}
