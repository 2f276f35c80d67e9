// Calls the devices of a ring: this device answers itself without a socket, the others over their
// connections.
import { must } from '@ringwright/base/assert';
import { CodedError } from '@ringwright/base/coded-error';
import { peerCallTimeoutMs } from '@ringwright/base/limits';
import {
  batchedWriteBytesMax,
  batchedWritesBytesMax,
  batchedWritesMax,
  collectedWritesMs,
  collectedWritesSentMax,
} from '@ringwright/base/limits-wire';
import { type Callback, type MaybePromise, tryCall } from '@ringwright/base/maybe-promise';
import { errorFromDocument } from '@ringwright/base/remote-error';
import { formatAddress } from '@ringwright/base/server-address';
import { addressFor, type Purpose } from '@ringwright/ring/device';
import type { Caller, CallHandler } from '@ringwright/wire/call-channel';
import type { AnswerOf, MessageKind, RequestOf } from '@ringwright/wire/message';
import { packedWriteBytes, packWrites } from '@ringwright/wire/packed-writes';
import { recordsWrite, recordWrite, writeKinds } from '@ringwright/wire/records';
import type { z } from 'zod';
import type { ActiveRing } from '../rings/active-ring.ts';

export interface DeviceTarget {
  readonly active: ActiveRing;
  readonly device: number;
  /** Default: peerCallTimeoutMs. */
  readonly timeoutMs?: number;
}

interface WriteTarget extends Pick<DeviceTarget, 'active' | 'device'> {
  /** Nobody waits for the answer: the write may be collected with later ones. */
  readonly mayWait?: boolean;
}

export interface DeviceCaller {
  /**
   * Calls a device of the ring by id. This device may return its answer synchronously. Rejects with
   * the device's CodedError or a PEER_ one.
   */
  call<Request extends z.ZodType, Answer extends z.ZodType>(
    to: DeviceTarget,
    kind: MessageKind<Request, Answer>,
    request: z.infer<Request>,
  ): MaybePromise<z.infer<Answer>>;

  /**
   * Like `call` of recordWrite, but with a callback instead of a promise, for the path of every
   * write. Calls `onResult` once, perhaps in this turn. Throws nothing.
   */
  write(to: WriteTarget, request: WriteRequest, onResult: WriteCallback): void;
}

export type WriteRequest = RequestOf<typeof recordWrite>;
export type WriteAnswer = AnswerOf<typeof recordWrite>;
/** Receives a device's result of a write: its answer, or else the error. */
export type WriteCallback = (device: number, answer: WriteAnswer | null, error: unknown) => void;

export type OwnWrite = (request: WriteRequest, onResult: Callback<WriteAnswer>) => void;

interface WritingPorts {
  readonly peers: { connect(address: string): Caller };
  /** Whether the server at this address accepts many writes in one message. */
  readonly takesMany: (address: string) => boolean;
}

interface CallerPorts extends WritingPorts {
  readonly handlers: ReadonlyMap<string, CallHandler>;
  /** Writes of this device to itself. */
  readonly ownWrite: OwnWrite;
  /** Gets each error of this device that has no code. Errors of others arrive with one. */
  readonly onBug: (error: unknown) => void;
}

/** The caller that a device's own handlers see: it has no newer ring to fetch. */
export const ownCaller: Caller = {
  call: () => Promise.reject(new Error('a device does not call itself back')),
};

/** `devices`: for copies and repair, which may use other addresses than requests. */
export function deviceCallers(ports: CallerPorts): {
  readonly devices: DeviceCaller;
  readonly forRequests: DeviceCaller;
} {
  return {
    devices: deviceCaller(ports, 'replication'),
    forRequests: deviceCaller(ports, 'requests'),
  };
}

function deviceCaller(ports: CallerPorts, purpose: Purpose): DeviceCaller {
  const { peers, handlers, ownWrite, onBug } = ports;
  const noteBug = (error: unknown): void => {
    if (error !== null && !(error instanceof CodedError)) onBug(error);
  };
  const addressIn = ({ ring }: ActiveRing, device: number): string =>
    formatAddress(addressFor(purpose, must(ring.devices[device], `no device ${device} there`)));
  // Not async, and answers are passed on as they are: every request passes through here.
  const call: DeviceCaller['call'] = (to, kind, request) => {
    const { active, device, timeoutMs = peerCallTimeoutMs } = to;
    if (device === active.self) {
      const handler = must(handlers.get(kind.method), `no handler of '${kind.method}'`);
      const answer = tryCall(() => handler.answer(request, ownCaller));
      if (answer instanceof Promise) answer.catch(noteBug);
      // The handler of a message kind returns an answer of that kind.
      return answer as MaybePromise<z.infer<typeof kind.answer>>;
    }
    return peers.connect(addressIn(active, device)).call(kind, request, timeoutMs);
  };
  const ofTurn = new WriteBatches(ports, setImmediate);
  const collected = new WriteBatches(ports, collectWrites());
  return {
    call,
    write({ active, device, mayWait = false }, request, onResult) {
      const onAnswer: Callback<WriteAnswer> = (answer, error) => onResult(device, answer, error);
      if (device === active.self) {
        ownWrite(request, (answer, error) => {
          noteBug(error);
          onAnswer(answer, error);
        });
      } else (mayWait ? collected : ofTurn).add(addressIn(active, device), request, onAnswer);
    },
  };
}

/**
 * Returns a `defer` for batches that nobody waits for. Few messages go at the end of their turn; if
 * more come within `collectedWritesMs`, their writes wait for its end.
 */
export function collectWrites(): (send: () => void) => void {
  let sent = 0;
  let sendAtEnd: (() => void) | null = null;
  const end = (): void => {
    sent = 0;
    sendAtEnd?.();
    sendAtEnd = null;
  };
  return (send) => {
    if (sent === 0) setTimeout(end, collectedWritesMs);
    sent += 1;
    if (sent <= collectedWritesSentMax) setImmediate(send);
    else sendAtEnd = send;
  };
}

interface Batch {
  readonly address: string;
  readonly requests: WriteRequest[];
  readonly onResults: Callback<WriteAnswer>[];
  bytes: number;
}

/**
 * The writes of some time to one server, in one message: each keeps an outcome of its own. A batch
 * that is full is sent at once.
 */
export class WriteBatches {
  readonly #ports: WritingPorts;
  readonly #defer: (send: () => void) => void;
  /** By address. */
  readonly #batchByAddress = new Map<string, Batch>();
  #isDeferred = false;

  /** `defer`: calls its argument when the time of the batches that begin now has passed. */
  constructor(ports: WritingPorts, defer: (send: () => void) => void) {
    this.#ports = ports;
    this.#defer = defer;
  }

  /** Calls `onResult` once, in a later turn. */
  add(address: string, request: WriteRequest, onResult: Callback<WriteAnswer>): void {
    const bytes = packedWriteBytes(request);
    if (bytes > batchedWriteBytesMax || !this.#ports.takesMany(address)) {
      this.#sendOne(address, request, onResult);
      return;
    }
    const batch = this.#batchFor(address, request, bytes);
    batch.requests.push(request);
    batch.onResults.push(onResult);
    batch.bytes += bytes;
    if (this.#isDeferred) return;
    this.#isDeferred = true;
    this.#defer(() => {
      this.#isDeferred = false;
      for (const gathered of this.#batchByAddress.values()) this.#send(gathered);
      this.#batchByAddress.clear();
    });
  }

  /** Returns a batch for the same ring that has room for the write. */
  #batchFor(address: string, request: WriteRequest, bytes: number): Batch {
    const batch = this.#batchByAddress.get(address);
    if (batch !== undefined) {
      const [first] = batch.requests;
      const isSame =
        first?.keyspace === request.keyspace && first.ringVersion === request.ringVersion;
      const hasRoom =
        batch.bytes + bytes <= batchedWritesBytesMax && batch.requests.length < batchedWritesMax;
      if (isSame && hasRoom) return batch;
      this.#send(batch);
    }
    const next: Batch = { address, requests: [], onResults: [], bytes: 0 };
    this.#batchByAddress.set(address, next);
    return next;
  }

  #sendOne(address: string, request: WriteRequest, onResult: Callback<WriteAnswer>): void {
    const { peers } = this.#ports;
    peers
      .connect(address)
      .call(recordWrite, request, peerCallTimeoutMs)
      .then(
        (answer) => onResult(answer, null),
        (error: unknown) => onResult(null, error),
      );
  }

  #send({ address, requests, onResults }: Batch): void {
    const [first] = requests;
    const [onFirstResult] = onResults;
    if (first === undefined || onFirstResult === undefined) return;
    if (requests.length === 1) {
      this.#sendOne(address, first, onFirstResult);
      return;
    }
    const { keyspace, ringVersion } = first;
    const writes = packWrites(requests);
    const { peers } = this.#ports;
    const request = { keyspace, ringVersion, writes };
    peers
      .connect(address)
      .call(recordsWrite, request, peerCallTimeoutMs)
      .then(
        (answer) => tellAll(onResults, answer),
        (error: unknown) => {
          for (const onResult of onResults) onResult(null, error);
        },
      );
  }
}

/** A write without a valid answer counts as failed, with its outcome unknown. */
function tellAll(
  onResults: readonly Callback<WriteAnswer>[],
  { kinds, stamps, errors }: AnswerOf<typeof recordsWrite>,
): void {
  const stamp = stamps.values();
  const error = errors.values();
  for (const [index, onResult] of onResults.entries()) {
    const kind = writeKinds[kinds[index] ?? -1];
    if (kind === 'stored') onResult({ kind }, null);
    else if (kind === 'stale' || kind === 'promised') {
      const { value } = stamp.next();
      if (value === undefined) onResult(null, errorFromDocument(null));
      else onResult({ kind, ...value }, null);
    } else onResult(null, errorFromDocument(error.next().value));
  }
}
