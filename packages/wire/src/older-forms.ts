// Converts messages to and from the forms of older releases. Each change of a form is listed here
// once, by the version that introduced it: the rest of the program knows only the newest forms.
// Pure.

type Fields = Readonly<Record<string, unknown>>;
export type MessagePart = 'request' | 'answer';

/** The first version that has a message in a form that is understood here. */
const methodsSince: ReadonlyMap<string, number> = new Map([
  ['files-look', 19],
  // In version 20 these have no encryption: its files are sent in chunks, as in all earlier ones.
  ['copy-start', 21],
  ['copy-go-on', 21],
  ['copy-checksum', 21],
  ['writes', 23],
  ['audit-read', 24],
  ['page-read', 25],
  ['coordinate-scan', 25],
  ['tail', 26],
  ['moves-complete', 28],
]);

interface Change {
  readonly since: number;
  readonly method: string;
  readonly parts: readonly MessagePart[];
  /** Converts to what a release before `since` understands. */
  readonly older: (body: Fields) => Fields;
  /** Converts from what such a release means. */
  readonly newer: (body: Fields) => Fields;
}

/**
 * A field that older releases do not know: null when it comes from them, left out when sent to
 * them.
 */
function added(
  since: number,
  { method, parts, field }: Pick<Change, 'method' | 'parts'> & { readonly field: string },
): Change {
  const newer = (body: Fields): Fields => ({ ...body, [field]: null });
  return { since, method, parts, older: (body) => without(field, body), newer };
}

function without(field: string, body: Fields): Fields {
  return Object.fromEntries(Object.entries(body).filter(([name]) => name !== field));
}

/** Oldest first. */
const changes: readonly Change[] = [
  // A loan becomes the rate itself, and its end the rate of the start.
  added(19, { method: 'copy-rate', parts: ['request'], field: 'loan' }),
  {
    since: 19,
    method: 'move-control',
    parts: ['request'],
    older: (body) => without('refills', body),
    newer: (body) => body,
  },
  {
    since: 19,
    method: 'digests',
    parts: ['answer'],
    older: ({ holdings }) => ({ holdings: (holdings as readonly Fields[]).map(withoutLost) }),
    newer: (body) => body,
  },
  added(22, { method: 'hello', parts: ['request', 'answer'], field: 'access' }),
  added(22, { method: 'trust-offer', parts: ['request'], field: 'access' }),
  added(22, { method: 'trust-fetch', parts: ['answer'], field: 'access' }),
  added(27, { method: 'coordinate-scan', parts: ['request'], field: 'arc' }),
  added(29, { method: 'rows', parts: ['answer'], field: 'hasPromises' }),
  added(30, { method: 'promises', parts: ['answer'], field: 'stamps' }),
  added(31, { method: 'copy-start', parts: ['request'], field: 'takesRows' }),
  added(31, { method: 'rows', parts: ['answer'], field: 'digest' }),
  // Version 31 requested the records of small partitions with `rows`; it gets files instead.
  {
    since: 32,
    method: 'copy-start',
    parts: ['request'],
    older: (body) => ({ ...without('takesPacked', body), takesRows: null }),
    newer: (body) => ({ ...without('takesRows', body), takesPacked: null }),
  },
  {
    since: 32,
    method: 'rows',
    parts: ['answer'],
    older: (body) => ({ ...body, digest: null }),
    newer: (body) => without('digest', body),
  },
];

/** Older releases have no state `lost`: such a file counts as filling. */
function withoutLost(holding: Fields | null): Fields | null {
  return holding?.['state'] === 'lost' ? { ...holding, state: 'filling' } : holding;
}

/** Whether a release that speaks `version` has the message. */
export function isMessageKnown(method: string, version: number): boolean {
  return version >= (methodsSince.get(method) ?? 0);
}

/** The message that a body belongs to, and the version of the end that sends or receives it. */
export interface MessageForm {
  readonly method: string;
  readonly part: MessagePart;
  readonly version: number;
}

/** Converts a body from today's form to the form for an end of `version`. */
export function olderForm(from: MessageForm, body: unknown): unknown {
  return changesSince(from).reduceRight((form, { older }) => older(form as Fields), body);
}

/** Converts a body from an end of `version`, not validated yet, to today's form. */
export function newerForm(from: MessageForm, body: unknown): unknown {
  const isFields = typeof body === 'object' && body !== null && !Array.isArray(body);
  if (!isFields) return body;
  return changesSince(from).reduce((form, { newer }) => newer(form as Fields), body);
}

const none: readonly Change[] = [];
const newestChange = Math.max(...changes.map(({ since }) => since));

function changesSince({ method, part, version }: MessageForm): readonly Change[] {
  if (version >= newestChange) return none;
  return changes.filter(
    (change) => change.since > version && change.method === method && change.parts.includes(part),
  );
}
