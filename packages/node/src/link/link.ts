// The caller's link to one server: a connection that is made on demand, greeted, kept, and made
// again with growing pauses.
import { CodedError } from '@ringwright/base/coded-error';
import { peerRetryMsMax, peerRetryMsMin } from '@ringwright/base/limits';
import type { CallChannel, Caller } from '@ringwright/wire/call-channel';
import type { MessageKind } from '@ringwright/wire/message';
import { socketSettings } from '@ringwright/wire/socket-settings';
import { WebSocket } from 'ws';
import type { z } from 'zod';
import { bearer } from './bearer.ts';
import { lookUp } from './look-up.ts';
import { type HintReader, notReached, notUpgraded } from './not-reached.ts';
import {
  type ProvenServer,
  proveServer,
  type ServerProof,
  type TlsIdentity,
} from './prove-server.ts';
import { type ChannelOptions, socketChannel } from './socket-channel.ts';
import { socketUrl } from './socket-url.ts';

export interface LinkPorts extends ChannelOptions {
  /** A clock that never steps; the machine's clock may be set back by an hour. */
  readonly monotonicMs: () => number;
  /** Timeout of the connection itself, before the greeting. */
  readonly connectTimeoutMs: number;
  /** Says hello on a new connection; nothing else is called before it resolves. */
  readonly greet: (address: string, caller: Caller) => Promise<void>;
  readonly onConnect?: (address: string) => void;
  /** What the server must prove; null or absent: nothing, and no TLS. */
  readonly proofOf?: (address: string) => ServerProof | null;
  /** Identity shown to servers that prove theirs. */
  readonly identity?: TlsIdentity | null;
  /** Called when the other end of a channel has proven a key. */
  readonly onProven?: (channel: CallChannel, key: string) => void;
  /** Token shown to the server; null or absent: none. */
  readonly token?: (address: string) => string | null;
  /** Default: operator. */
  readonly reader?: HintReader;
}

export class Link implements Caller {
  readonly address: string;
  readonly #ports: LinkPorts;
  #channel: Promise<CallChannel> | null = null;
  #socket: WebSocket | null = null;
  /** Key that the server proved on the present connection; null: none was required. */
  #key: string | null = null;
  /** Replaced connections, whose calls in flight may still be answered. */
  readonly #replaced = new Set<WebSocket>();
  #connected = false;
  #pauseMs = peerRetryMsMin;
  #pauseEndsMs = 0;
  #closed = false;

  constructor(address: string, ports: LinkPorts) {
    this.address = address;
    this.#ports = ports;
  }

  /** Whether there is a connection and its greeting has ended. */
  get connected(): boolean {
    return this.#connected;
  }

  /** The key that the server of the present connection proved; null without TLS. */
  get key(): string | null {
    return this.#key;
  }

  /** How long no attempt is made after a failed one; 0 when the next call connects. */
  get pausedMs(): number {
    if (this.#channel !== null) return 0;
    return Math.max(0, this.#pauseEndsMs - this.#ports.monotonicMs());
  }

  /** Calls the server, connecting first if needed. Throws what `connect` and the call throw. */
  async call<Request extends z.ZodType, Answer extends z.ZodType>(
    kind: MessageKind<Request, Answer>,
    request: z.infer<Request>,
    timeoutMs: number,
  ): Promise<z.infer<Answer>> {
    const channel = await this.connect();
    return channel.call(kind, request, timeoutMs);
  }

  /**
   * Returns the open channel. Rejects with PEER_UNREACHABLE, at once during the pause after a
   * failed attempt, with PEER_FAILED if another program answers, and with what `greet` throws: in
   * that case nothing else was sent.
   */
  connect(): Promise<CallChannel> {
    if (this.#channel !== null) return this.#channel;
    if (this.#closed || this.pausedMs > 0)
      return Promise.reject(this.#unreachable('cannot be reached'));
    const opening = this.#open();
    this.#channel = opening;
    // Nobody else resets the channel if the failure comes before there is a socket.
    opening.catch(() => {
      if (this.#channel === opening) this.#channel = null;
    });
    return opening;
  }

  /** Rejects calls in flight, and later ones too. */
  close(): void {
    this.#closed = true;
    this.#socket?.terminate();
    for (const socket of this.#replaced) socket.terminate();
  }

  /** Makes the next call connect, whatever has failed before: the server showed signs of life. */
  endPause(): void {
    this.#pauseEndsMs = 0;
  }

  /**
   * Makes the next call open a new connection, where the server proves what is required by then.
   * Calls in flight on the present connection have `graceMs` to be answered.
   */
  renew(graceMs: number): void {
    const socket = this.#socket;
    if (socket === null) {
      this.endPause();
      return;
    }
    this.#channel = null;
    this.#socket = null;
    this.#connected = false;
    this.#replaced.add(socket);
    const timer = setTimeout(() => socket.terminate(), graceMs).unref();
    socket.once('close', () => {
      clearTimeout(timer);
      this.#replaced.delete(socket);
    });
  }

  async #open(): Promise<CallChannel> {
    const url = socketUrl(this.address);
    const { reader = 'operator', connectTimeoutMs: timeoutMs } = this.#ports;
    const proven = await this.#prove();
    if (this.#closed) {
      proven?.socket.destroy();
      throw this.#unreachable('is not needed any more');
    }
    const socket = new WebSocket(url, {
      ...socketSettings,
      lookup: lookUp,
      ...(proven && { createConnection: () => proven.socket }),
      headers: bearer(this.#ports.token?.(this.address) ?? null),
    });
    this.#socket = socket;
    this.#key = proven?.key ?? null;
    const channel = socketChannel(socket, { peer: this.address }, this.#ports);
    if (proven !== null) this.#ports.onProven?.(channel, proven.key);
    const ended = new Promise<never>((_resolve, reject) => {
      // The timeout of ws begins again with every byte that arrives.
      const timer = setTimeout(() => {
        reject(this.#unreachable(`did not answer within ${timeoutMs} ms`));
        socket.terminate();
      }, timeoutMs);
      socket.once('open', () => clearTimeout(timer));
      socket.once('error', (cause) => {
        reject(notReached(this.address, cause, { isPlain: proven === null, reader }));
      });
      socket.once('unexpected-response', (_request, { statusCode = 0 }) => {
        reject(notUpgraded(this.address, statusCode, reader));
        socket.terminate();
      });
      socket.once('close', () => {
        clearTimeout(timer);
        if (this.#socket === socket) this.#forget();
        reject(this.#unreachable('closed the connection'));
      });
    });
    ended.catch(() => undefined); // the race below reports it while somebody waits
    try {
      await Promise.race([new Promise((resolve) => socket.once('open', resolve)), ended]);
      await Promise.race([this.#ports.greet(this.address, channel), ended]);
    } catch (error) {
      // At once: its 'close' would end the attempt that a caller begins when it gets this error.
      if (this.#socket === socket) this.#forget();
      socket.terminate();
      throw error;
    }
    if (this.#socket === socket) this.#connected = true;
    this.#pauseMs = peerRetryMsMin;
    this.#ports.onConnect?.(this.address);
    return channel;
  }

  async #prove(): Promise<ProvenServer | null> {
    const { proofOf, identity = null, connectTimeoutMs: timeoutMs } = this.#ports;
    try {
      const proof = proofOf?.(this.address) ?? null;
      if (proof === null) return null;
      return await proveServer(this.address, { proof, identity, timeoutMs });
    } catch (error) {
      this.#forget();
      throw error;
    }
  }

  /** Makes the next call connect again, after a pause that doubles with every failure. */
  #forget(): void {
    this.#channel = null;
    this.#socket = null;
    this.#connected = false;
    this.#pauseEndsMs = this.#ports.monotonicMs() + this.#pauseMs;
    this.#pauseMs = Math.min(this.#pauseMs * 2, peerRetryMsMax);
  }

  #unreachable(why: string): CodedError {
    return new CodedError('PEER_UNREACHABLE', `${this.address} ${why}`);
  }
}
