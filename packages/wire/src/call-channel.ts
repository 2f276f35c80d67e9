// Calls over one connection, in both directions, batched into frames. Sockets and timers are passed
// in. Pure.
import { AssertionError } from '@ringwright/base/assert';
import { CodedError } from '@ringwright/base/coded-error';
import { freeBytes } from '@ringwright/base/free-bytes';
import { peerQueueBytesMax } from '@ringwright/base/limits';
import {
  answeringCallBytes,
  frameBytesAim,
  frameCallsMax,
  misunderstoodCallsMax,
  unreadBytesMax,
} from '@ringwright/base/limits-wire';
import { errorFromDocument } from '@ringwright/base/remote-error';
import { shortened } from '@ringwright/base/shortened';
import type { z } from 'zod';
import { notSpoken } from './check-wire-version.ts';
import { type CallEnvelope, type Envelope, joinFrame, unpackFrame } from './frame.ts';
import { hello } from './hello.ts';
import type { MessageKind } from './message.ts';
import {
  isMessageKnown,
  type MessageForm,
  type MessagePart,
  newerForm,
  olderForm,
} from './older-forms.ts';
import { type Packed, packOne, packRefusal } from './packed-envelope.ts';
import { WaitingCalls } from './waiting-calls.ts';
import { oldestWireVersion, wireVersion } from './wire-version.ts';

/** Sends a call to the other end and returns its validated answer. */
export interface Caller {
  call<Request extends z.ZodType, Answer extends z.ZodType>(
    kind: MessageKind<Request, Answer>,
    request: z.infer<Request>,
    timeoutMs: number,
  ): Promise<z.infer<Answer>>;
}

/** Answers a call: `request` has passed its schema, `caller` reaches the end that sent it. */
export type AnswerFunction = (request: unknown, caller: Caller) => unknown;

export interface CallHandler {
  /** Its answers' bytes are not used elsewhere, so their memory is freed once they are packed. */
  readonly givesAway?: true;
  readonly request: z.ZodType;
  readonly answer: AnswerFunction;
}

interface ChannelPort {
  send(frame: Uint8Array): void;
  /** Bytes handed to `send` that are not sent yet. */
  queuedBytes(): number;
  /** Bytes of a message that has begun to arrive and is not complete. */
  arrivingBytes(): number;
  /** Reports a change of the bytes of calls being answered; negative: a decrease. */
  answering(bytes: number): void;
  /** Runs `work` soon, after the code that is running now: calls made until then share a frame. */
  defer(work: () => void): void;
  /** Runs `work` after a delay; returns a function that cancels it. */
  after(ms: number, work: () => void): () => void;
  /** Gets each error without a code of a handler: the caller gets its message alone. */
  onBug?(error: unknown): void;
  /** Name of the other end for messages, such as its address. */
  readonly peer: string;
}

/** Why a connection must be closed: a code of RFC 6455 and a sentence of at most 123 bytes. */
export interface CloseReason {
  readonly code: 1007 | 1008;
  readonly reason: string;
}

/** Calls of one frame that are not answered yet. */
interface UnansweredFrame {
  calls: number;
  /** As reported to the port. */
  bytes: number;
}

const MISUNDERSTOOD = `more than ${misunderstoodCallsMax} calls are unknown or malformed`;

export class CallChannel implements Caller {
  /** Calls to the other end that wait for their answers. */
  readonly waiting: WaitingCalls;
  readonly #port: ChannelPort;
  readonly #handlers: ReadonlyMap<string, CallHandler>;
  #outgoing: Uint8Array[] = [];
  #outgoingBytes = 0;
  #flushPlanned = false;
  #nextId = 1;
  /** Calls that were not understood, minus later ones that were. */
  #misunderstood = 0;
  /** The wire version that both ends speak, since the last hello. */
  #version = wireVersion;
  #closed: Error | null = null;

  constructor(port: ChannelPort, handlers: ReadonlyMap<string, CallHandler>) {
    this.#port = port;
    this.#handlers = handlers;
    this.waiting = new WaitingCalls(port);
  }

  /**
   * Calls the other end. Rejects with its CodedError, or PEER_TIMEOUT, PEER_BUSY (its send queue is
   * full; `details.outcome` is `rejected` when the call did not run, `unknown` when it did),
   * PEER_UNREACHABLE (the connection closed), PEER_FAILED (an answer of the wrong form),
   * VALUE_OUT_OF_RANGE (a request that fits no frame), USAGE (the other end lacks the message),
   * WIRE_VERSION_UNKNOWN (it lacks the message because its release is older).
   */
  call<Request extends z.ZodType, Answer extends z.ZodType>(
    kind: MessageKind<Request, Answer>,
    request: z.infer<Request>,
    timeoutMs: number,
  ): Promise<z.infer<Answer>> {
    if (this.#closed !== null) return Promise.reject(this.#closed);
    return new Promise((resolve, reject) => {
      this.#checkRoom('rejected');
      if (!isMessageKnown(kind.method, this.#version)) {
        throw notSpoken(kind.method, this.#version, this.#port.peer);
      }
      const id = this.#nextId++;
      // Before the call is registered: a request that cannot be packed just throws.
      const body = olderForm(this.#formOf(kind.method, 'request', request), request);
      const packed = packOne([0, id, kind.method, body]);
      // #finish validates the answer against the kind's schema first.
      const finish = resolve as (answer: unknown) => void;
      const time = { bytes: packed.bytes.length, timeoutMs };
      this.waiting.add(id, { kind, resolve: finish, reject }, time);
      this.#post(packed);
    });
  }

  /**
   * Processes a received frame. Returns why the connection must be closed, or null: the bytes are
   * no frame, too many more calls were invalid than valid, or the other end keeps calling and reads
   * no answers.
   */
  receive(bytes: Uint8Array): CloseReason | null {
    const envelopes = unpackFrame(bytes);
    if (envelopes === null) return { code: 1007, reason: 'not a frame of calls and answers' };
    const frame: UnansweredFrame = { calls: 0, bytes: 0 };
    const closing = this.#takeAll(envelopes, frame);
    if (frame.calls > 0) {
      frame.bytes = bytes.length + frame.calls * answeringCallBytes;
      this.#port.answering(frame.bytes);
    }
    return closing;
  }

  #takeAll(envelopes: readonly Envelope[], frame: UnansweredFrame): CloseReason | null {
    for (const envelope of envelopes) {
      if (envelope[0] === 0) void this.#answer(envelope, frame);
      else this.#finish(envelope);
      if (this.#misunderstood > misunderstoodCallsMax) return { code: 1008, reason: MISUNDERSTOOD };
    }
    if (this.#port.queuedBytes() <= unreadBytesMax) return null;
    return { code: 1008, reason: `more than ${unreadBytesMax} bytes of answers are unread` };
  }

  /** Ends the channel: every waiting call is rejected with `reason`. */
  close(reason: Error): void {
    if (this.#closed !== null) return;
    this.#closed = reason;
    this.#outgoing = [];
    this.waiting.rejectAll(reason);
  }

  async #answer([, id, method, body]: CallEnvelope, frame: UnansweredFrame): Promise<void> {
    frame.calls += 1;
    try {
      const { handler, request } = this.#understand(method, body);
      this.#checkRoom('rejected');
      const answer = await handler.answer(request, this);
      // Checked again: many small requests in one frame may ask for far more than the queue holds.
      this.#checkRoom('unknown');
      const form = olderForm(this.#formOf(method, 'answer', answer), answer);
      const packed = packOne([1, id, form]);
      this.#post(packed);
      if (handler.givesAway === true && packed.long !== null) freeBytes(packed.long);
    } catch (error) {
      this.#post({ bytes: packRefusal(id, error), long: null });
      // The caller only learns that the call failed. A bug crashes this process after the frame is
      // sent.
      if (error instanceof AssertionError) {
        this.#port.defer(() => {
          throw error;
        });
      } else if (!(error instanceof CodedError)) this.#port.onBug?.(error);
    } finally {
      frame.calls -= 1;
      if (frame.calls === 0 && frame.bytes > 0) this.#port.answering(-frame.bytes);
    }
  }

  /** Throws USAGE for an unknown method, PEER_FAILED for a body of the wrong form. */
  #understand(method: string, body: unknown): { handler: CallHandler; request: unknown } {
    const handler = isMessageKnown(method, this.#version) ? this.#handlers.get(method) : undefined;
    const form = newerForm(this.#formOf(method, 'request', body), body);
    const request = handler?.request.safeParse(form);
    if (handler !== undefined && request?.success) {
      if (this.#misunderstood > 0) this.#misunderstood -= 1;
      return { handler, request: request.data };
    }
    this.#misunderstood += 1;
    if (request?.error !== undefined) throw badMessage(method, request.error);
    throw new CodedError('USAGE', `unknown message '${shortened(method)}'`);
  }

  #finish(envelope: Exclude<Envelope, CallEnvelope>): void {
    const call = this.waiting.take(envelope[1]);
    if (call === undefined) return; // answered after its timeout
    if (envelope[0] === 2) {
      call.reject(errorFromDocument(envelope[2]));
      return;
    }
    const { method } = call.kind;
    const form = newerForm(this.#formOf(method, 'answer', envelope[2]), envelope[2]);
    const answer = call.kind.answer.safeParse(form);
    if (answer.success) call.resolve(answer.data);
    else call.reject(badMessage(`answer to ${method}`, answer.error));
  }

  /** A hello states its own version; its answer sets the version spoken from then on. */
  #formOf(method: string, part: MessagePart, body: unknown): MessageForm {
    if (method !== hello.method) return { method, part, version: this.#version };
    const version = statedVersion(body) ?? this.#version;
    if (part === 'answer') this.#version = version;
    return { method, part, version };
  }

  /** Throws PEER_BUSY when the other end receives too slowly. `outcome`: that of the call. */
  #checkRoom(outcome: 'rejected' | 'unknown'): void {
    const queued = this.#port.queuedBytes();
    if (queued <= peerQueueBytesMax) return;
    const message = `${queued} bytes wait for ${this.#port.peer}; maximum ${peerQueueBytesMax}`;
    throw new CodedError('PEER_BUSY', message, { details: { outcome } });
  }

  #post({ bytes, long }: Packed): void {
    if (this.#closed !== null) return;
    if (long !== null || !this.#hasRoomFor(bytes)) this.#flush();
    if (long !== null) {
      this.#send(bytes);
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
    this.#send(frame);
  }

  /** To be called when no call waits in front of the frame. */
  #send(frame: Uint8Array): void {
    this.waiting.noteSent();
    this.#port.send(frame);
  }
}

/** Null unless the version is supported. */
function statedVersion(body: unknown): number | null {
  if (typeof body !== 'object' || body === null || !('wireVersion' in body)) return null;
  const version = Number(body.wireVersion);
  return version >= oldestWireVersion && version <= wireVersion ? version : null;
}

function badMessage(what: string, error: z.ZodError): CodedError {
  const issue = error.issues[0];
  const where = issue?.path.join('.') ?? '';
  const problem = issue?.message ?? 'has the wrong form';
  return new CodedError('PEER_FAILED', shortened(`${what}: ${where} ${problem}`));
}
