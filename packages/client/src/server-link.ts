// One server as a client sees it: a connection made when it is needed, and again after it broke.
import { CodedError } from '@ringwright/base/coded-error';
import { clientAvoidMs, peerRetryMsMax, peerRetryMsMin } from '@ringwright/base/limits';
import { CallChannel } from '@ringwright/wire/call-channel';
import { meetServer } from '@ringwright/wire/meet-server';
import { socketSettings } from '@ringwright/wire/socket-settings';
import { socketUrl } from '@ringwright/wire/socket-url';
import { WebSocket } from 'ws';

/** A client answers nothing: servers call other servers. */
const NO_HANDLERS = new Map<string, never>();

export class ServerLink {
  readonly address: string;
  readonly #timeoutMs: number;
  #socket: WebSocket | null = null;
  #channel: Promise<CallChannel> | null = null;
  #retryMs = peerRetryMsMin;
  #retryAtMs = 0;
  #avoidUntilMs = 0;

  constructor(address: string, timeoutMs: number) {
    this.address = address;
    this.#timeoutMs = timeoutMs;
  }

  /** False while it was slow or away a moment ago: others are asked first. */
  get isWell(): boolean {
    return performance.now() >= Math.max(this.#avoidUntilMs, this.#retryAtMs);
  }

  /** Called when it kept a caller waiting. */
  avoid(): void {
    this.#avoidUntilMs = performance.now() + clientAvoidMs;
  }

  /**
   * The open channel. Rejects with PEER_UNREACHABLE, at once while a failed attempt is fresh: then
   * nothing has been sent.
   */
  open(): Promise<CallChannel> {
    if (this.#channel !== null) return this.#channel;
    if (performance.now() < this.#retryAtMs) return Promise.reject(unreachable(this.address));
    this.#channel = this.#connect();
    return this.#channel;
  }

  /** Calls under way are rejected. */
  close(): void {
    this.#retryAtMs = Number.POSITIVE_INFINITY;
    this.#socket?.terminate();
  }

  async #connect(): Promise<CallChannel> {
    const socket = new WebSocket(socketUrl(this.address), {
      ...socketSettings,
      handshakeTimeout: this.#timeoutMs,
    });
    this.#socket = socket;
    const channel = channelOver(socket, this.address);
    const ended = new Promise<never>((_resolve, reject) => {
      socket.once('error', (cause) => reject(unreachable(this.address, cause)));
      socket.once('close', () => {
        this.#rest();
        reject(unreachable(this.address));
      });
    });
    ended.catch(() => undefined); // the race reports it while somebody waits
    try {
      await Promise.race([new Promise((resolve) => socket.once('open', resolve)), ended]);
      const meeting = { address: this.address, ms: 0, timeoutMs: this.#timeoutMs };
      await Promise.race([meetServer(channel, meeting), ended]);
    } catch (error) {
      socket.terminate();
      throw error;
    }
    this.#retryMs = peerRetryMsMin;
    return channel;
  }

  /** The next attempt has to wait, twice as long after every failure. */
  #rest(): void {
    this.#channel = null;
    this.#socket = null;
    this.#retryAtMs = Math.max(this.#retryAtMs, performance.now() + this.#retryMs);
    this.#retryMs = Math.min(2 * this.#retryMs, peerRetryMsMax);
  }
}

/** Calls of one tick share a frame: the channel defers its sending to the end of the tick. */
function channelOver(socket: WebSocket, address: string): CallChannel {
  const port = {
    peer: address,
    send: (frame: Uint8Array) => socket.send(frame),
    queuedBytes: () => socket.bufferedAmount,
    answering: () => undefined, // it refuses each call at once
    defer: (work: () => void) => void setImmediate(work),
    after: (ms: number, work: () => void) => {
      const timer = setTimeout(work, ms);
      return () => clearTimeout(timer);
    },
  };
  const channel = new CallChannel(port, NO_HANDLERS);
  socket.on('message', (data, isBinary) => {
    const isFrame = isBinary && Buffer.isBuffer(data) && channel.receive(data) === null;
    if (!isFrame) socket.terminate();
  });
  socket.on('close', () => channel.close(unreachable(address)));
  socket.on('error', () => undefined); // 'close' follows
  return channel;
}

function unreachable(address: string, cause?: Error): CodedError {
  const why = cause === undefined ? '' : `: ${cause.message}`;
  return new CodedError('PEER_UNREACHABLE', `no connection to ${address}${why}`, { cause });
}
