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
  readonly ms: number;
  cancelTimeout: () => void;
}

/** Time that the slowest line takes for a message: the timeout of a call is longer by it. */
function slowLinkMs(bytes: number): number {
  return bytes < slowMessageBytesMin ? 0 : Math.ceil(bytes / slowLinkRate);
}

/** How much longer a call waits while a message arrives, which may be its answer. */
export const slowLinkMsMax = slowLinkMs(socketMessageBytesMax);

export class WaitingCalls {
  readonly #port: WaitingPort;
  readonly #calls = new Map<number, TimedCall>();
  /** Calls whose time ended in the middle of a message, which may be their answer. */
  #overdue: number[] = [];

  constructor(port: WaitingPort) {
    this.#port = port;
  }

  get size(): number {
    return this.#calls.size;
  }

  /**
   * The call is rejected with PEER_TIMEOUT after `timeoutMs` and the time that a slow line takes
   * for the `bytes` of its request. The pings of the connection find a dead line sooner.
   */
  add(id: number, call: WaitingCall, { bytes, timeoutMs }: { bytes: number; timeoutMs: number }) {
    const ms = timeoutMs + slowLinkMs(bytes);
    const cancelTimeout = this.#port.after(ms, () => this.#end(id));
    this.#calls.set(id, { ...call, ms, cancelTimeout });
  }

  /** Returns the call and forgets it; undefined if its time has ended. */
  take(id: number): WaitingCall | undefined {
    const call = this.#calls.get(id);
    if (call === undefined) return undefined;
    this.#calls.delete(id);
    call.cancelTimeout();
    return call;
  }

  /** To be called when a message is complete and its answers are taken. */
  endOverdue(): void {
    if (this.#overdue.length === 0) return;
    for (const id of this.#overdue) this.#reject(id);
    this.#overdue = [];
  }

  rejectAll(reason: Error): void {
    for (const id of [...this.#calls.keys()]) this.take(id)?.reject(reason);
  }

  #end(id: number): void {
    const call = this.#calls.get(id);
    if (call === undefined || this.#port.arrivingBytes() < slowMessageBytesMin) {
      this.#reject(id);
      return;
    }
    this.#overdue.push(id);
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
