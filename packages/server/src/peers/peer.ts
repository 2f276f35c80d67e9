// One other server: a connection made when it is needed, kept, and made again with growing pauses.
import { CodedError } from '@ringwright/base/coded-error';
import { peerCallTimeoutMs, peerRetryMsMax, peerRetryMsMin } from '@ringwright/base/limits';
import type { CallChannel, Caller } from '@ringwright/wire/call-channel';
import type { MessageKind } from '@ringwright/wire/message';
import { socketSettings } from '@ringwright/wire/socket-settings';
import { socketUrl } from '@ringwright/wire/socket-url';
import { WebSocket } from 'ws';
import type { z } from 'zod';
import { keepAlive } from './keep-alive.ts';
import { type Answers, socketChannel } from './socket-channel.ts';

export interface PeerPorts extends Answers {
  /** A clock that never steps: the machine's may be set back by an hour. */
  readonly monotonicMs: () => number;
  /** Resolves after so many ms by that clock. */
  readonly pause: (ms: number) => Promise<unknown>;
  /** Introduces this server on a fresh connection; nothing else is called before it resolves. */
  readonly greet: (address: string, caller: Caller) => Promise<void>;
  readonly onConnect: (address: string) => void;
}

export class Peer implements Caller {
  readonly address: string;
  readonly #ports: PeerPorts;
  #channel: Promise<CallChannel> | null = null;
  #socket: WebSocket | null = null;
  #connected = false;
  #retryMs = peerRetryMsMin;
  #retryAtMs = 0;
  #closed = false;

  constructor(address: string, ports: PeerPorts) {
    this.address = address;
    this.#ports = ports;
  }

  get connected(): boolean {
    return this.#connected;
  }

  /**
   * Calls the peer, connecting first if need be. Rejects at once while a failed attempt is fresh.
   */
  async call<Request extends z.ZodType, Answer extends z.ZodType>(
    kind: MessageKind<Request, Answer>,
    request: z.infer<Request>,
    timeoutMs: number,
  ): Promise<z.infer<Answer>> {
    const channel = await this.connect();
    return channel.call(kind, request, timeoutMs);
  }

  connect(): Promise<CallChannel> {
    if (this.#channel !== null) return this.#channel;
    if (this.#closed || this.#ports.monotonicMs() < this.#retryAtMs) {
      return Promise.reject(
        new CodedError('PEER_UNREACHABLE', `${this.address} cannot be reached`),
      );
    }
    this.#channel = this.#open();
    return this.#channel;
  }

  /** As `connect`, after the pause if an attempt has failed a moment ago: within peerRetryMsMax. */
  async connectSoon(): Promise<CallChannel> {
    const pauseMs = this.#retryAtMs - this.#ports.monotonicMs();
    if (this.#channel === null && pauseMs > 0) await this.#ports.pause(Math.ceil(pauseMs));
    return this.connect();
  }

  close(): void {
    this.#closed = true;
    this.#socket?.terminate();
  }

  async #open(): Promise<CallChannel> {
    const socket = new WebSocket(socketUrl(this.address), {
      ...socketSettings,
      handshakeTimeout: peerCallTimeoutMs,
    });
    this.#socket = socket;
    const channel = socketChannel(socket, this.address, this.#ports);
    const ended = new Promise<never>((_resolve, reject) => {
      socket.once('error', (cause) => {
        const message = `${this.address} cannot be reached: ${cause.message}`;
        reject(new CodedError('PEER_UNREACHABLE', message, { cause }));
      });
      socket.once('close', () => {
        this.#forget();
        reject(new CodedError('PEER_UNREACHABLE', `${this.address} closed the connection`));
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
    this.#retryMs = peerRetryMsMin;
    this.#ports.onConnect(this.address);
    return channel;
  }

  /** The next call connects again, but not before a pause that doubles with every failure. */
  #forget(): void {
    this.#channel = null;
    this.#socket = null;
    this.#connected = false;
    this.#retryAtMs = this.#ports.monotonicMs() + this.#retryMs;
    this.#retryMs = Math.min(this.#retryMs * 2, peerRetryMsMax);
  }
}
