// Calls over one connection, both ways, batched into frames. Sockets and timers are passed in.
// Pure.
import { AssertionError } from '@ringwright/base/assert';
import { CodedError, type ErrorDocument } from '@ringwright/base/coded-error';
import { freeBytes } from '@ringwright/base/free-bytes';
import { peerQueueBytesMax, socketMessageBytesMax } from '@ringwright/base/limits';
import {
  frameBytesAim,
  frameCallsMax,
  misunderstoodCallsMax,
  unreadBytesMax,
} from '@ringwright/base/limits-wire';
import { errorFromDocument } from '@ringwright/base/remote-error';
import { shortened } from '@ringwright/base/shortened';
import type { z } from 'zod';
import { type Envelope, joinFrame, longFrame, packEnvelope, unpackFrame } from './frame.ts';
import { hasFrameStructure } from './frame-structure.ts';
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
  /** Nobody else looks at the bytes of its answers: their memory is freed when they are packed. */
  readonly givesAway?: true;
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

interface Packed {
  /** An envelope, or a whole frame when it holds long bytes. */
  readonly bytes: Uint8Array;
  readonly long: Uint8Array | null;
}

interface WaitingCall {
  readonly kind: MessageKind<z.ZodType, z.ZodType>;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly cancelTimeout: () => void;
}

/** What a frame takes besides its envelopes. */
const FRAME_BYTES_RESERVE = 64;
const MESSAGE_BYTES_MAX = socketMessageBytesMax - FRAME_BYTES_RESERVE;

export class CallChannel implements Caller {
  readonly #port: ChannelPort;
  readonly #handlers: ReadonlyMap<string, CallHandler>;
  readonly #waiting = new Map<number, WaitingCall>();
  #outgoing: Uint8Array[] = [];
  #outgoingBytes = 0;
  #flushPlanned = false;
  #nextId = 1;
  #misunderstood = 0;
  #closed: Error | null = null;

  constructor(port: ChannelPort, handlers: ReadonlyMap<string, CallHandler>) {
    this.#port = port;
    this.#handlers = handlers;
  }

  /**
   * Calls the other end. Rejects with its CodedError, or PEER_TIMEOUT, PEER_BUSY (the queue to it
   * is full), PEER_UNREACHABLE (the connection closed), PEER_FAILED (an answer of the wrong form),
   * VALUE_OUT_OF_RANGE (a request that fits no frame).
   */
  call<Request extends z.ZodType, Answer extends z.ZodType>(
    kind: MessageKind<Request, Answer>,
    request: z.infer<Request>,
    timeoutMs: number,
  ): Promise<z.infer<Answer>> {
    if (this.#closed !== null) return Promise.reject(this.#closed);
    return new Promise((resolve, reject) => {
      this.#checkRoom();
      const id = this.#nextId++;
      // Before anybody waits for it: a request that cannot be packed only throws.
      const packed = packOne([0, id, kind.method, request]);
      const cancelTimeout = this.#port.after(timeoutMs, () => {
        this.#waiting.delete(id);
        const message = `${this.#port.peer} did not answer '${kind.method}' within ${timeoutMs} ms`;
        reject(new CodedError('PEER_TIMEOUT', message));
      });
      // The answer passes the kind's schema in #settle before it gets here.
      const settle = resolve as (answer: unknown) => void;
      this.#waiting.set(id, { kind, resolve: settle, reject, cancelTimeout });
      this.#post(packed);
    });
  }

  /**
   * Takes one received frame. False when the connection should be closed: it is none, too many
   * calls made no sense, or the other end asks on and reads no answers.
   */
  receive(bytes: Uint8Array): boolean {
    const envelopes = unpackFrame(bytes);
    if (envelopes === null) return false;
    for (const envelope of envelopes) {
      if (envelope[0] === 0) void this.#answer(envelope[1], envelope[2], envelope[3]);
      else this.#settle(envelope);
      if (this.#misunderstood > misunderstoodCallsMax) return false;
    }
    return this.#port.queuedBytes() <= unreadBytesMax;
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
      const { handler, request } = this.#understand(method, body);
      this.#checkRoom();
      const answer = await handler.answer(request, this);
      // Again: many small requests that came together may ask for far more than the queue holds.
      this.#checkRoom();
      const packed = packOne([1, id, answer]);
      this.#post(packed);
      if (handler.givesAway === true && packed.long !== null) freeBytes(packed.long);
    } catch (error) {
      this.#post({ bytes: packRefusal(id, error), long: null });
      // The caller only learns that the call failed; a bug is a crash, after the frame has left.
      if (error instanceof AssertionError) {
        this.#port.defer(() => {
          throw error;
        });
      }
    }
  }

  /** Throws USAGE for a method that is not answered here, PEER_FAILED for a body of another form. */
  #understand(method: string, body: unknown): { handler: CallHandler; request: unknown } {
    const handler = this.#handlers.get(method);
    const request = handler?.request.safeParse(body);
    if (handler !== undefined && request?.success) return { handler, request: request.data };
    this.#misunderstood += 1;
    if (request?.error !== undefined) throw badMessage(method, request.error);
    throw new CodedError('USAGE', `no message '${shortened(method)}' here`);
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

  /** Throws PEER_BUSY when the other end takes its frames too slowly. */
  #checkRoom(): void {
    const queued = this.#port.queuedBytes();
    if (queued <= peerQueueBytesMax) return;
    const message = `${queued} bytes wait for ${this.#port.peer}, ${peerQueueBytesMax} is the most`;
    throw new CodedError('PEER_BUSY', message);
  }

  #post({ bytes, long }: Packed): void {
    if (this.#closed !== null) return;
    if (long !== null || !this.#hasRoomFor(bytes)) this.#flush();
    if (long !== null) {
      this.#port.send(bytes);
      return;
    }
    this.#outgoing.push(bytes);
    this.#outgoingBytes += bytes.length;
    if (this.#outgoingBytes >= frameBytesAim) {
      this.#flush();
    } else if (!this.#flushPlanned) {
      this.#flushPlanned = true;
      this.#port.defer(() => {
        this.#flushPlanned = false;
        this.#flush();
      });
    }
  }

  #hasRoomFor({ length }: Uint8Array): boolean {
    const isFull = this.#outgoing.length >= frameCallsMax;
    return !isFull && this.#outgoingBytes + length <= frameBytesAim;
  }

  #flush(): void {
    if (this.#outgoing.length === 0) return;
    const frame = joinFrame(this.#outgoing);
    this.#outgoing = [];
    this.#outgoingBytes = 0;
    this.#port.send(frame);
  }
}

/**
 * Never fails: a refusal that names what it was given may be larger than a frame, and details may
 * hold what no frame does.
 */
function packRefusal(id: number, error: unknown): Uint8Array {
  const document = errorDocument(error);
  const packed = packEnvelope([2, id, document]);
  const isFrame = packed.length <= MESSAGE_BYTES_MAX && hasFrameStructure(joinFrame([packed]));
  return isFrame ? packed : packEnvelope([2, id, { ...document, details: {} }]);
}

/** Packs an envelope. Throws VALUE_OUT_OF_RANGE when no frame could hold it. */
function packOne(envelope: Envelope): Packed {
  const found = longFrame(envelope);
  if (found !== null && found.frame.length <= MESSAGE_BYTES_MAX) {
    return { bytes: found.frame, long: found.long };
  }
  const bytes = packEnvelope(envelope);
  if (bytes.length <= MESSAGE_BYTES_MAX) return { bytes, long: null };
  throw new CodedError(
    'VALUE_OUT_OF_RANGE',
    `a message of ${bytes.length} bytes, ${MESSAGE_BYTES_MAX} is the most`,
  );
}

function badMessage(what: string, error: z.ZodError): CodedError {
  const issue = error.issues[0];
  const where = issue?.path.join('.') ?? '';
  const wrong = issue?.message ?? 'not of the right form';
  return new CodedError('PEER_FAILED', shortened(`${what}: ${where} ${wrong}`));
}

function errorDocument(error: unknown): ErrorDocument {
  if (!(error instanceof CodedError)) {
    return { code: 'PEER_FAILED', message: shortened(String(error)), hint: '', details: {} };
  }
  const { code, message, hint, details } = error;
  return { code, message: shortened(message), hint: shortened(hint), details };
}
