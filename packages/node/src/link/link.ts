// One server as whoever calls it sees it: a connection made when it is needed, introduced, kept,
// and made again with growing pauses.
import { CodedError } from '@ringwright/base/coded-error';
import { peerRetryMsMax, peerRetryMsMin } from '@ringwright/base/limits';
import type { CallChannel, Caller } from '@ringwright/wire/call-channel';
import type { MessageKind } from '@ringwright/wire/message';
import { socketSettings } from '@ringwright/wire/socket-settings';
import { socketUrl } from '@ringwright/wire/socket-url';
import { WebSocket } from 'ws';
import type { z } from 'zod';
import { keepAlive } from './keep-alive.ts';
import { type Answers, socketChannel } from './socket-channel.ts';

export interface LinkPorts extends Answers {
  /** A clock that never steps: the machine's may be set back by an hour. */
  readonly monotonicMs: () => number;
  /** Longest wait for a connection, before the greeting. */
  readonly connectTimeoutMs: number;
  /** Says hello on a fresh connection; nothing else is called before it resolves. */
  readonly greet: (address: string, caller: Caller) => Promise<void>;
  readonly onConnect?: (address: string) => void;
}

export class Link implements Caller {
  readonly address: string;
  readonly #ports: LinkPorts;
  #channel: Promise<CallChannel> | null = null;
  #socket: WebSocket | null = null;
  #connected = false;
  #pauseMs = peerRetryMsMin;
  #pauseEndsMs = 0;
  #closed = false;

  constructor(address: string, ports: LinkPorts) {
    this.address = address;
    this.#ports = ports;
  }

  /** Whether there is a connection and its greeting is over. */
  get connected(): boolean {
    return this.#connected;
  }

  /** How long no attempt is made, since one has failed; 0 when the next call connects. */
  get pausedMs(): number {
    if (this.#channel !== null) return 0;
    return Math.max(0, this.#pauseEndsMs - this.#ports.monotonicMs());
  }

  /** Calls the server, connecting first if need be. Throws what `connect` and the call throw. */
  async call<Request extends z.ZodType, Answer extends z.ZodType>(
    kind: MessageKind<Request, Answer>,
    request: z.infer<Request>,
    timeoutMs: number,
  ): Promise<z.infer<Answer>> {
    const channel = await this.connect();
    return channel.call(kind, request, timeoutMs);
  }

  /**
   * The open channel. Rejects with PEER_UNREACHABLE, at once during the pause after a failed
   * attempt, and with what `greet` throws: then nothing else has been sent.
   */
  connect(): Promise<CallChannel> {
    if (this.#channel !== null) return this.#channel;
    if (this.#closed || this.pausedMs > 0)
      return Promise.reject(this.#unreachable('cannot be reached'));
    this.#channel = this.#open();
    return this.#channel;
  }

  /** Calls under way are rejected, and later ones too. */
  close(): void {
    this.#closed = true;
    this.#socket?.terminate();
  }

  async #open(): Promise<CallChannel> {
    const socket = new WebSocket(socketUrl(this.address), {
      ...socketSettings,
      handshakeTimeout: this.#ports.connectTimeoutMs,
    });
    this.#socket = socket;
    const channel = socketChannel(socket, this.address, this.#ports);
    const ended = new Promise<never>((_resolve, reject) => {
      socket.once('error', (cause) => {
        reject(this.#unreachable(`cannot be reached: ${cause.message}`, cause));
      });
      socket.once('close', () => {
        this.#forget();
        reject(this.#unreachable('closed the connection'));
      });
    });
    ended.catch(() => undefined); // the race below reports it while somebody waits
    try {
      await Promise.race([new Promise((resolve) => socket.once('open', resolve)), ended]);
      keepAlive(socket);
      await Promise.race([this.#ports.greet(this.address, channel), ended]);
    } catch (error) {
      socket.terminate();
      throw error;
    }
    this.#connected = true;
    this.#pauseMs = peerRetryMsMin;
    this.#ports.onConnect?.(this.address);
    return channel;
  }

  /** The next call connects again, but not before a pause that doubles with every failure. */
  #forget(): void {
    this.#channel = null;
    this.#socket = null;
    this.#connected = false;
    this.#pauseEndsMs = this.#ports.monotonicMs() + this.#pauseMs;
    this.#pauseMs = Math.min(this.#pauseMs * 2, peerRetryMsMax);
  }

  #unreachable(why: string, cause?: Error): CodedError {
    return new CodedError('PEER_UNREACHABLE', `${this.address} ${why}`, { cause });
  }
}
