// Reads and validates the status of a server: GET /v1/status.

import { CodedError, resultOrError } from '@ringwright/base/coded-error';
import { type ErrorCode, isPeerCode } from '@ringwright/base/errors';
import { jsonOrNull } from '@ringwright/base/parse-json';
import { errorFromDocument } from '@ringwright/base/remote-error';
import { parseAddress } from '@ringwright/base/server-address';
import { stampMsMax } from '@ringwright/base/stamp';
import { getHttp } from '@ringwright/node/link/get-http';
import { otherProgram } from '@ringwright/node/link/not-reached';
import type { ServerProof } from '@ringwright/node/link/prove-server';
import { loadStages } from '@ringwright/wire/moves';
import { z } from 'zod';
import { connectTimeoutMs } from './server-connection.ts';
import { credentialsFor, noteInsecure } from './server-proofs.ts';

/** Unix ms that a date can show. */
const msField = z.number().min(0).max(stampMsMax);
const addressField = z.string().refine((text) => parseAddress(text) !== null);

/** Disk space that a step lacked; absent in older releases. */
const roomField = z.nullish(z.object({ freeBytes: z.number(), neededBytes: z.number() }));

const loadSchema = z.object({
  partition: z.int(),
  assignment: z.nullable(z.int()),
  stage: z.enum(loadStages),
  bytes: z.number(),
  bytesTotal: z.number(),
  rows: z.number(),
  copiesVerified: z.int(),
  reason: z.string(),
  room: roomField,
});

const ringSchema = z.object({
  ring: z.string(),
  version: z.int(),
  id: z.string(),
  sinceMs: msField,
  disk: z.nullable(z.object({ version: z.int(), id: z.string() })),
  requests: z.array(z.object({ version: z.int(), coordinated: z.int(), answered: z.int() })),
  device: z.nullable(z.int()),
  serving: z.int(),
  notReady: z.int(),
  /** This field and the next are absent in release 0.1.0. */
  damaged: z.array(z.object({ partition: z.int(), reason: z.string() })).default([]),
  failing: z.array(z.object({ step: z.string(), reason: z.string(), room: roomField })).default([]),
  loads: z.array(loadSchema),
  /** Assignment ids of moves to this device. */
  paused: z.array(z.int()),
  first: z.array(z.int()),
  surplus: z.int(),
  /** Drops and quarantines that wait for an operator. */
  held: z.object({ drops: z.int(), quarantines: z.int() }),
  draining: z.array(z.object({ partition: z.int(), reason: z.string() })),
  rows: z.number(),
  bytes: z.number(),
  /** Epoch of the ring's signatures; null: the ring is unsigned. */
  epoch: z.nullish(z.int()),
  freshness: z.object({
    state: z.enum(['none', 'fresh', 'behind', 'expired']),
    version: z.nullable(z.int()),
  }),
  fork: z.nullable(
    z.object({
      version: z.int(),
      id: z.string(),
      other: z.string(),
      from: z.string(),
      atMs: msField,
      settled: z.nullable(z.object({ version: z.int(), id: z.string(), reason: z.string() })),
    }),
  ),
});

const diskSchema = z.object({
  freeBytes: z.number(),
  totalBytes: z.number().optional(),
  /** Null: its file system has no fixed number of inodes. Absent in older releases. */
  freeInodes: z.nullish(z.number()),
  /** Why it cannot create files in its data directory. Absent in older releases. */
  unwritable: z.nullish(z.string()),
});

const peerSchema = z.object({
  address: z.string(),
  connected: z.boolean(),
  /** It accepts no messages of the server that reports it; absent in older releases. */
  refuses: z.optional(z.boolean()),
});

const statusSchema = z.object({
  address: addressField,
  ready: z.boolean(),
  /** The device name that it was started with; a ring must use this name. */
  device: z.string().nullish(),
  wireVersion: z.int().optional(),
  nowMs: msField.optional(),
  /** How far the newest known stamp is ahead of the server's clock; absent in older releases. */
  stampsAheadMs: z.number().optional(),
  /** It refuses connections without TLS. This and the next are absent in older releases. */
  demandsTls: z.optional(z.boolean()),
  insecure: z.optional(z.boolean()),
  rings: z.array(ringSchema),
  /** Servers of its rings. This and the next are absent in older releases. */
  peers: z.array(peerSchema).default([]),
  uptimeMs: z.number().default(0),
  disk: diskSchema.optional(),
  /** Set if the commit log was lost and began anew. */
  logLoss: z.nullish(z.object({ ms: msField, reason: z.string() })),
  /** The data directory was restored from a backup and refills; absent in older releases. */
  putBack: z.optional(z.boolean()),
  /** [partition, bytes of its values] of the requested ring. */
  sizes: z.array(z.tuple([z.int(), z.number()])).optional(),
  /** [partition, bytes of its file and WAL]; absent in older releases. */
  files: z.array(z.tuple([z.int(), z.number()])).optional(),
  /** [partition, requests per second] of that ring; absent in older releases. */
  rates: z.array(z.tuple([z.int(), z.number()])).optional(),
  /** The middle of the requested partition; null if it has no records to compute it from. */
  middle: z.nullish(
    z.object({ at: z.union([z.int(), z.string()]), share: z.number(), sampled: z.int() }),
  ),
  /** The copy rate that is allowed; null: no limit. */
  copyPace: z
    .object({ allowed: z.nullable(z.number()), lentMs: z.nullable(z.number()).default(null) })
    .optional(),
  /** The roots under which rings must be signed, with their expiry (ISO); null: none. */
  trust: z.nullish(
    z.array(
      z.object({
        cluster: z.string().optional(),
        version: z.int().optional(),
        expires: z.string().optional(),
      }),
    ),
  ),
  /** The certificate of --tls FILE; null: none; absent in older releases. */
  certificate: z.nullish(
    z.object({ names: z.string(), starts: z.string().optional(), ends: z.string() }),
  ),
  /** Last use of each token at this server, Unix ms; absent in older releases. */
  tokensUsed: z.record(z.string(), msField).optional(),
  refusals: z.array(z.object({ keyspace: z.string(), code: z.string(), message: z.string() })),
});

export interface ServerStatus extends z.infer<typeof statusSchema> {
  /** Absent if the server does not report its time. */
  readonly clock?: ClockReading;
}
export interface ClockReading {
  /** How far the server's clock is ahead of this machine's; negative: behind. */
  readonly aheadMs: number;
  /** Possible error of aheadMs: half of the round trip. */
  readonly slackMs: number;
}
/** Disk space that was available and needed. */
export type Room = NonNullable<z.infer<typeof roomField>>;
export interface RingStatus extends z.infer<typeof ringSchema> {
  /** The ring that the server refused last and has not activated since; empty if none. */
  readonly refusal: string;
  /** Code of the refusal; null if there is none or this release does not know the code. */
  readonly refusalCode: ErrorCode | null;
  /** Free bytes on the server's disk; absent if unknown. */
  readonly freeBytes?: number;
  /** Bytes per second that the server may send, and receive; null: no limit. */
  readonly rate: number | null;
  /** Remaining time of a `rate` lent by a rollout, after which it lapses; null: no loan. */
  readonly lentMs: number | null;
  /** The ring is unsigned, and the server no longer accepts unsigned rings. */
  readonly lacksSignature: boolean;
  /** The server's loads of other rings. All rings share its places for copies. */
  readonly otherLoads: readonly (z.infer<typeof loadSchema> & { readonly ring: string })[];
}

/** Whether the server could not be reached, or its connection broke. */
export function isUnreachable(answer: unknown): answer is CodedError {
  return answer instanceof CodedError && isPeerCode(answer.code);
}

/** Throws PEER_UNREACHABLE, PEER_FAILED, and errors of the server such as HOST_UNKNOWN. */
export async function serverStatus(
  address: string,
  options: {
    readonly sizesOf?: string;
    /** RING/PARTITION. */
    readonly middleOf?: string;
    readonly timeoutMs?: number;
    /** Expects a key that no ring names. No token or certificate is shown to such a server. */
    readonly proof?: ServerProof;
  } = {},
): Promise<ServerStatus> {
  const { sizesOf, middleOf, timeoutMs = connectTimeoutMs, proof: unvouched } = options;
  const query = new URLSearchParams({
    ...(sizesOf !== undefined && { sizes: sizesOf }),
    ...(middleOf !== undefined && { middle: middleOf }),
  }).toString();
  const request = unvouched === undefined ? await credentialsFor(address) : { proof: unvouched };
  const path = `/v1/status${query && `?${query}`}`;
  const askedMs = steadyNowMs();
  const answer = await getHttp(address, path, { ...request, timeoutMs });
  const slackMs = (steadyNowMs() - askedMs) / 2;
  const document = jsonOrNull(answer.body);
  if (answer.status !== 200 && isCoded(document)) throw errorFromDocument(document);
  const parsed = statusSchema.safeParse(document);
  if (parsed.success) {
    noteInsecure(address, parsed.data.insecure === true);
    const { nowMs } = parsed.data;
    if (nowMs === undefined) return parsed.data;
    return { ...parsed.data, clock: { aheadMs: nowMs - askedMs - slackMs, slackMs } };
  }
  if (answer.status !== 200) throw otherProgram(address, { answer: `HTTP ${answer.status}` });
  throw new CodedError('PEER_FAILED', `${address} answered /v1/status in an unknown form`, {
    hint: 'check that a ring-server of this release runs there',
    details: { address },
  });
}

/** Returns the local time, unaffected by clock adjustments while servers are asked. */
function steadyNowMs(): number {
  return performance.timeOrigin + performance.now();
}

/** Whether the document is a coded error, which programs other than ring-server do not send. */
function isCoded(document: unknown): boolean {
  return typeof document === 'object' && document !== null && 'code' in document;
}

/** Returns the server's status of one ring, or the error that prevented it. */
export async function ringStatus(
  address: string,
  ring: string,
  timeoutMs = connectTimeoutMs,
): Promise<RingStatus | CodedError> {
  return ringIn(await statusOrWhyNot(address, timeoutMs), { address, ring });
}

/**
 * Returns any CodedError, such as PEER_UNREACHABLE, as a value, for callers that ask many servers.
 */
export function statusOrWhyNot(
  address: string,
  timeoutMs = connectTimeoutMs,
): Promise<ServerStatus | CodedError> {
  return resultOrError(serverStatus(address, { timeoutMs }));
}

/**
 * Returns a status's entry for one ring. If the server lacks the ring, returns the error with which
 * it refused the ring, or else RING_UNKNOWN.
 */
export function ringIn(
  status: ServerStatus | CodedError,
  { address, ring }: { readonly address: string; readonly ring: string },
): RingStatus | CodedError {
  if (status instanceof CodedError) return status;
  const found = status.rings.find((one) => one.ring === ring);
  const refused = status.refusals.find(({ keyspace }) => keyspace === ring);
  const refusal = refused === undefined ? '' : `${refused.code}: ${refused.message}`;
  const { code } = errorFromDocument(refused);
  const refusalCode = code === refused?.code ? code : null;
  if (found !== undefined) {
    const { allowed: rate = null, lentMs = null } = status.copyPace ?? {};
    const lacksSignature = Array.isArray(status.trust) && found.epoch === null;
    const diskFields = status.disk === undefined ? {} : { freeBytes: status.disk.freeBytes };
    const otherLoads = status.rings.flatMap(({ ring: name, loads }) =>
      name === ring ? [] : loads.map((load) => ({ ...load, ring: name })),
    );
    const copies = { rate, lentMs, otherLoads };
    return { ...found, refusal, refusalCode, ...diskFields, ...copies, lacksSignature };
  }
  return new CodedError(refusalCode ?? 'RING_UNKNOWN', refusal || `${address} has no ring ${ring}`);
}
