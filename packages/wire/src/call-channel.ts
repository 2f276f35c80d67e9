// Calls over one connection, both ways, batched into frames. Sockets and timers are passed in.
// Pure.
import { AssertionError } from '@ringwright/base/assert';
import { CodedError } from '@ringwright/base/coded-error';
import { peerQueueBytesMax, socketMessageBytesMax } from '@ringwright/base/limits';
import { errorFromDocument } from '@ringwright/base/remote-error';
import type { z } from 'zod';
import { type Envelope, packFrame, unpackFrame } from './frame.ts';
import type { MessageKind } from './message.ts';

/** Sends one call to the other end and gives its checked answer. */
export interface Caller {
  call<Request extends z.ZodType, Answer extends z.ZodType>(
    kind: MessageKind<Request, Answer>,
    request: z.infer<Request>,
    timeoutMs: number,
  ): Promise<z.infer<Answer>>;
}

/**
 * Answers one kind of call. `request` has passed the kind's schema; `caller` reaches the asking
 * end.
 */
export type Answering = (request: unknown, caller: Caller) => unknown;

export interface CallHandler {
  readonly request: z.ZodType;
  readonly answer: Answering;
}

export interface ChannelPort {
  send(frame: Uint8Array): void;
  /** Bytes handed to `send` that have not left yet. */
  queuedBytes(): number;
  /** Runs `work` soon, after what is running now: calls made until then share a frame. */
  defer(work: () => void): void;
  /** Runs `work` after a time; gives the function that cancels it. */
  after(ms: number, work: () => void): () => void;
  /** Name of the other end for messages, such as its address. */
  readonly peer: string;
}

interface WaitingCall {
  readonly kind: MessageKind<z.ZodType, z.ZodType>;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly cancelTimeout: () => void;
}

/** A frame is closed when its bodies are about this large; one more record must still fit. */
const FRAME_BYTES_AIM = socketMessageBytesMax / 4;

export class CallChannel implements Caller {
  readonly #port: ChannelPort;
  readonly #handlers: ReadonlyMap<string, CallHandler>;
  readonly #waiting = new Map<number, WaitingCall>();
  #outgoing: Envelope[] = [];
  #outgoingBytes = 0;
  #flushPlanned = false;
  #nextId = 1;
  #closed: Error | null = null;

  constructor(port: ChannelPort, handlers: ReadonlyMap<string, CallHandler>) {
    this.#port = port;
    this.#handlers = handlers;
  }

  /**
   * Calls the other end. Rejects with its CodedError, or PEER_TIMEOUT, PEER_BUSY (the queue to it
   * is full),
   * PEER_UNREACHABLE (the connection closed), PEER_FAILED (an answer of the wrong form).
   */
  call<Request extends z.ZodType, Answer extends z.ZodType>(
    kind: MessageKind<Request, Answer>,
    request: z.infer<Request>,
    timeoutMs: number,
  ): Promise<z.infer<Answer>> {
    if (this.#closed !== null) return Promise.reject(this.#closed);
    const queued = this.#port.queuedBytes();
    if (queued > peerQueueBytesMax) {
      const limit = `${peerQueueBytesMax} is the most`;
      const message = `${queued} bytes wait for ${this.#port.peer}, ${limit}`;
      return Promise.reject(new CodedError('PEER_BUSY', message));
    }
    return new Promise((resolve, reject) => {
      const id = this.#nextId++;
      const cancelTimeout = this.#port.after(timeoutMs, () => {
        this.#waiting.delete(id);
        const message = `${this.#port.peer} did not answer '${kind.method}' within ${timeoutMs} ms`;
        reject(new CodedError('PEER_TIMEOUT', message));
      });
      // The answer passes the kind's schema in #settle before it gets here.
      const settle = resolve as (answer: unknown) => void;
      this.#waiting.set(id, { kind, resolve: settle, reject, cancelTimeout });
      this.#post([0, id, kind.method, request], request);
    });
  }

  /** Takes one received frame. False when it is none: the connection should be closed. */
  receive(bytes: Uint8Array): boolean {
    const envelopes = unpackFrame(bytes);
    if (envelopes === null) return false;
    for (const envelope of envelopes) {
      if (envelope[0] === 0) void this.#answer(envelope[1], envelope[2], envelope[3]);
      else this.#settle(envelope);
    }
    return true;
  }

  /** Ends the channel: every waiting call is rejected with `reason`. */
  close(reason: Error): void {
    if (this.#closed !== null) return;
    this.#closed = reason;
    this.#outgoing = [];
    for (const call of this.#waiting.values()) {
      call.cancelTimeout();
      call.reject(reason);
    }
    this.#waiting.clear();
  }

  async #answer(id: number, method: string, body: unknown): Promise<void> {
    try {
      const handler = this.#handlers.get(method);
      if (handler === undefined) throw new CodedError('USAGE', `no message '${method}' here`);
      const request = handler.request.safeParse(body);
      if (!request.success) throw badMessage(method, request.error);
      const answer = await handler.answer(request.data, this);
      this.#post([1, id, answer], answer);
    } catch (error) {
      // A bug stays a crash where it happens; the caller only learns that the call failed.
      if (error instanceof AssertionError) throw error;
      this.#post([2, id, errorDocument(error)], null);
    }
  }

  #settle(envelope: Exclude<Envelope, { readonly 0: 0 }>): void {
    const call = this.#waiting.get(envelope[1]);
    if (call === undefined) return; // answered after its timeout
    this.#waiting.delete(envelope[1]);
    call.cancelTimeout();
    if (envelope[0] === 2) {
      call.reject(errorFromDocument(envelope[2]));
      return;
    }
    const answer = call.kind.answer.safeParse(envelope[2]);
    if (answer.success) call.resolve(answer.data);
    else call.reject(badMessage(`answer to ${call.kind.method}`, answer.error));
  }

  #post(envelope: Envelope, body: unknown): void {
    if (this.#closed !== null) return;
    this.#outgoing.push(envelope);
    this.#outgoingBytes += roughBytes(body);
    if (this.#outgoingBytes >= FRAME_BYTES_AIM) {
      this.#flush();
    } else if (!this.#flushPlanned) {
      this.#flushPlanned = true;
      this.#port.defer(() => {
        this.#flushPlanned = false;
        this.#flush();
      });
    }
  }

  #flush(): void {
    if (this.#outgoing.length === 0) return;
    const frame = packFrame(this.#outgoing);
    this.#outgoing = [];
    this.#outgoingBytes = 0;
    this.#port.send(frame);
  }
}

/** A cheap lower bound of a body's size: the byte fields of records and chunks are what grows. */
function roughBytes(body: unknown): number {
  if (typeof body !== 'object' || body === null) return 16;
  let bytes = 64;
  for (const value of Object.values(body)) {
    if (value instanceof Uint8Array) bytes += value.length;
    else if (Array.isArray(value)) bytes += FRAME_BYTES_AIM / 2;
    else if (typeof value === 'object' && value !== null) bytes += roughBytes(value);
  }
  return bytes;
}

function badMessage(what: string, error: z.ZodError): CodedError {
  const issue = error.issues[0];
  const where = issue?.path.join('.') ?? '';
  return new CodedError(
    'PEER_FAILED',
    `${what}: ${where} ${issue?.message ?? 'not of the right form'}`,
  );
}

function errorDocument(error: unknown): unknown {
  if (error instanceof CodedError) return error.toJSON();
  return { code: 'PEER_FAILED', message: String(error), hint: '', details: {} };
}
