// The calls of one connection that wait for their answers, with their timeouts. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { socketMessageBytesMax } from '@ringwright/base/limits';
import { slowLinkRate, slowMessageBytesMin } from '@ringwright/base/limits-wire';
import type { z } from 'zod';
import type { MessageKind } from './message.ts';

interface WaitingPort {
  /** Bytes of a message that has begun to arrive and is not complete. */
  arrivingBytes(): number;
  /** Runs `work` after a delay; returns a function that cancels it. */
  after(ms: number, work: () => void): () => void;
  /** Name of the other end for messages, such as its address. */
  readonly peer: string;
}

interface WaitingCall {
  readonly kind: MessageKind<z.ZodType, z.ZodType>;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: Error) => void;
}

interface TimedCall extends WaitingCall {
  /** Bytes of the request; 0 for a short one. */
  readonly bytes: number;
  readonly timeoutMs: number;
  /** The time that the call has now. */
  ms: number;
  cancelTimeout: () => void;
}

const nothing = (): void => undefined;

/** Time that the slowest line takes for a message: the timeout of a call is longer by it. */
function slowLinkMs(bytes: number): number {
  return bytes < slowMessageBytesMin ? 0 : Math.ceil(bytes / slowLinkRate);
}

/** How much longer a call waits while long messages arrive, which may have its answer. */
export const slowLinkMsMax = slowLinkMs(socketMessageBytesMax);

export class WaitingCalls {
  readonly #port: WaitingPort;
  readonly #calls = new Map<number, TimedCall>();
  #lastId = 0;
  #sentId = 0;
  /** Calls with more time, in the order of their requests, which may still be on the line. */
  readonly #onLine = new Map<number, TimedCall>();
  #bytesOnLine = 0;
  #pings = 0;
  /** Calls whose time ended while a long message arrived, each with the last ping before that. */
  readonly #overdue = new Map<number, number>();

  constructor(port: WaitingPort) {
    this.#port = port;
  }

  get size(): number {
    return this.#calls.size;
  }

  /** To be called when all calls so far are handed over to be sent. */
  noteSent(): void {
    this.#sentId = this.#lastId;
  }

  /**
   * The call is rejected with PEER_TIMEOUT after `timeoutMs` and the time that a slow line takes
   * for the `bytes` of its request and of those before it on the line. The pings of the connection
   * find a dead line sooner.
   */
  add(id: number, call: WaitingCall, { bytes, timeoutMs }: { bytes: number; timeoutMs: number }) {
    const longBytes = bytes < slowMessageBytesMin ? 0 : bytes;
    const lineMs = Math.min(slowLinkMs(this.#bytesOnLine + longBytes), slowLinkMsMax);
    const timed = { ...call, bytes: longBytes, timeoutMs, ms: 0, cancelTimeout: nothing };
    this.#calls.set(id, timed);
    this.#lastId = id;
    this.#setTime(id, timed, timeoutMs + lineMs);
    if (lineMs === 0) return;
    this.#onLine.set(id, timed);
    this.#bytesOnLine += longBytes;
  }

  /** Counts a ping that is sent now. Its pong has to bring the result to `notePong`. */
  notePing(): { readonly ping: number; readonly sentId: number } {
    this.#pings += 1;
    return { ping: this.#pings, sentId: this.#sentId };
  }

  /**
   * The other end has received the requests up to `sentId`: from then on each of them has its
   * timeout, and no time for the line. What it had sent before the pong has arrived: a call whose
   * time had ended before the ping is not among that.
   */
  notePong({ ping, sentId }: { readonly ping: number; readonly sentId: number }): void {
    for (const [id, call] of this.#onLine) {
      if (id > sentId) break;
      this.#leaveLine(id);
      call.cancelTimeout();
      this.#setTime(id, call, call.timeoutMs);
    }
    for (const [id, before] of this.#overdue) if (ping > before) this.#reject(id);
  }

  /** Returns the call and forgets it; undefined if its time has ended. */
  take(id: number): WaitingCall | undefined {
    const call = this.#calls.get(id);
    if (call === undefined) return undefined;
    this.#calls.delete(id);
    this.#leaveLine(id);
    this.#overdue.delete(id);
    call.cancelTimeout();
    return call;
  }

  rejectAll(reason: Error): void {
    for (const id of [...this.#calls.keys()]) this.take(id)?.reject(reason);
  }

  #setTime(id: number, call: TimedCall, ms: number): void {
    call.ms = ms;
    call.cancelTimeout = this.#port.after(ms, () => this.#end(id));
  }

  #leaveLine(id: number): void {
    const call = this.#onLine.get(id);
    if (call === undefined) return;
    this.#onLine.delete(id);
    this.#bytesOnLine -= call.bytes;
  }

  #end(id: number): void {
    const call = this.#calls.get(id);
    if (call === undefined || this.#port.arrivingBytes() < slowMessageBytesMin) {
      this.#reject(id);
      return;
    }
    this.#leaveLine(id);
    this.#overdue.set(id, this.#pings);
    call.cancelTimeout = this.#port.after(slowLinkMsMax, () => this.#reject(id));
  }

  #reject(id: number): void {
    const call = this.#calls.get(id);
    if (call === undefined) return;
    this.take(id);
    const { method } = call.kind;
    const message = `${this.#port.peer} did not answer '${method}' within ${call.ms} ms`;
    call.reject(new CodedError('PEER_TIMEOUT', message));
  }
}
