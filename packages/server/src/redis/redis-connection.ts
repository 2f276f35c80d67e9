// One connection of the Redis protocol: requests start as they are read, answers leave in order.
import type { Socket } from 'node:net';
import { freeOwnBytes } from '@ringwright/base/free-bytes';
import { redisOutputBytesMax, redisPipelineMax } from '@ringwright/base/limits';
import type { MaybePromise } from '@ringwright/base/maybe-promise';
import type { HeldBytes } from '../access/byte-budget.ts';
import { KeyOrder } from '../coordinate/key-order.ts';
import { byteText } from '../replica/byte-text.ts';
import { keysOf, type RedisClient, type RedisPorts } from './redis-command.ts';
import { type FoundCommand, findCommand } from './redis-commands.ts';
import { failureReply } from './redis-errors.ts';
import { requireCommand } from './redis-needs.ts';
import { encodeReply, errorReply, type RespReply } from './resp-reply.ts';
import { RespProtocolError, type RespRequest, RespRequests } from './resp-requests.ts';

export interface ConnectionPorts extends RedisPorts {
  /** Called when a command is answered; `name` is in the table or `unknown`. */
  readonly onCommand: (name: string, seconds: number) => void;
  readonly onProtocolError: () => void;
  readonly onBug: (error: unknown) => void;
}

/** What the connection takes of what all of them share. */
export interface RedisShare {
  readonly held: HeldBytes;
  /** A request of it came. */
  readonly onRequest: () => void;
}

/** The place of one answer among the others; null until it is there. */
interface Answer {
  bytes: Buffer | null;
}

/** A page of a browser that posts here to reach a server behind a firewall: cut off, as in Redis. */
const HTTP_WORDS = /^(post|host:)$/i;

/** Answers of this length are not left to the garbage collector. */
const FREED_BYTES_MIN = 32 * 1024;

const never = (): boolean => false;

/** Serves a socket until it closes. */
export class RedisConnection {
  readonly #socket: Socket;
  readonly #ports: ConnectionPorts;
  readonly #client: RedisClient;
  readonly #requests = new RespRequests();
  readonly #order = new KeyOrder();
  readonly #share: RedisShare;
  /** Answers that have not left, in the order of their requests. */
  #answers: Answer[] = [];
  #running = 0;
  #flushPlanned = false;
  /** No more requests are read; the socket ends when the last answer has left. */
  #ending = false;
  /** The other end has sent all it will; it may still be reading. */
  #inputEnded = false;

  constructor(socket: Socket, client: RedisClient, ports: ConnectionPorts & RedisShare) {
    this.#socket = socket;
    this.#share = ports;
    this.#client = client;
    this.#ports = ports;
    socket.setNoDelay(true);
    socket.on('data', (chunk) => {
      this.#requests.push(chunk);
      this.#pump();
    });
    socket.on('drain', () => this.#pump());
    socket.on('end', () => {
      this.#inputEnded = true;
      this.#pump();
    });
    socket.on('close', () => {
      this.#ending = true;
    });
    // A 'close' follows every 'error'; who was asking is gone.
    socket.on('error', () => undefined);
  }

  /** Requests are under way, or answers wait to leave. */
  get isBusy(): boolean {
    return this.#running > 0 || this.#answers.length > 0;
  }

  /** Starts what may start; stops reading the socket while too much is under way. */
  #pump(): void {
    for (let more = true; more && !this.#ending && this.#hasRoom(); this.#flush()) {
      while (more && !this.#ending && this.#hasRoom()) {
        const request = this.#nextRequest();
        more = request !== null;
        if (request !== null) this.#begin(request);
        else if (this.#inputEnded) this.#ending = true;
      }
    }
    if (this.#hasRoom()) this.#socket.resume();
    else this.#socket.pause();
    this.#flush();
    this.#share.held.hold(this.#requests.begunBytes + this.#socket.writableLength);
  }

  #hasRoom(): boolean {
    const { writableLength } = this.#socket;
    return this.#answers.length < redisPipelineMax && writableLength < redisOutputBytesMax;
  }

  #nextRequest(): RespRequest | null {
    try {
      return this.#requests.next();
    } catch (error) {
      if (!(error instanceof RespProtocolError)) throw error;
      this.#ports.onProtocolError();
      this.#reply(errorReply(`ERR Protocol error: ${error.message}`));
      this.#ending = true;
      return null;
    }
  }

  #begin(request: RespRequest): void {
    this.#share.held.cameOn();
    this.#share.onRequest();
    let found: FoundCommand;
    try {
      found = findCommand(request);
    } catch (error) {
      this.#refuseUnknown(request, error);
      return;
    }
    const { name, command } = found;
    const { keyspace, consistency } = this.#client;
    const args = request.slice(1);
    const effect = command.swapsWith?.(args) ? 'swap' : command.effect;
    const call = { ports: this.#ports, client: this.#client, args, keyspace, consistency };
    const run = (overtaken: () => boolean): MaybePromise<RespReply> =>
      command.run({ ...call, overtaken });
    this.#run(name, () => {
      requireCommand(command, { ...call, effect });
      return effect === 'none' ? run(never) : this.#order.run(keysOf(command, args), effect, run);
    });
    if (name === 'quit') this.#ending = true;
  }

  /** Many commands have their answer at once, those about no key and reads of what is here. */
  #run(name: string, command: () => MaybePromise<RespReply>): void {
    const startMs = performance.now();
    try {
      const reply = command();
      if (reply instanceof Promise) {
        this.#await(reply, { name, startMs });
        return;
      }
      this.#reply(reply);
    } catch (error) {
      this.#reply(this.#failed(error));
    }
    this.#ports.onCommand(name, (performance.now() - startMs) / 1000);
  }

  #refuseUnknown(request: RespRequest, error: unknown): void {
    if (HTTP_WORDS.test(byteText(request[0] ?? new Uint8Array()))) {
      this.#ports.onProtocolError();
      this.#ending = true;
      this.#socket.destroy();
      return;
    }
    this.#reply(this.#failed(error));
    this.#ports.onCommand('unknown', 0);
  }

  #reply(reply: RespReply): void {
    this.#answers.push({ bytes: encodeReply(reply, this.#client.protocol) });
  }

  #failed(error: unknown): RespReply {
    const { reply, isBug } = failureReply(error);
    if (isBug) this.#ports.onBug(error);
    return reply;
  }

  #await(
    work: Promise<RespReply>,
    { name, startMs }: { readonly name: string; readonly startMs: number },
  ): void {
    const { protocol } = this.#client;
    const answer: Answer = { bytes: null };
    this.#answers.push(answer);
    this.#running += 1;
    const end = (reply: RespReply): void => {
      this.#running -= 1;
      answer.bytes = encodeReply(reply, protocol);
      this.#ports.onCommand(name, (performance.now() - startMs) / 1000);
      this.#flushSoon();
    };
    work.then(end, (error: unknown) => end(this.#failed(error))).catch(this.#ports.onBug);
  }

  /** Answers that come in one turn leave in one write; a lone one leaves at once. */
  #flushSoon(): void {
    if (this.#running === 0) this.#pump();
    else if (!this.#flushPlanned) {
      this.#flushPlanned = true;
      setImmediate(() => {
        this.#flushPlanned = false;
        this.#pump();
      });
    }
  }

  #flush(): void {
    let ready = 0;
    while (ready < this.#answers.length && this.#answers[ready]?.bytes !== null) ready += 1;
    if (ready > 0) {
      const leaving = this.#answers.slice(0, ready).map(({ bytes }) => bytes ?? Buffer.alloc(0));
      this.#answers = ready === this.#answers.length ? [] : this.#answers.slice(ready);
      const [first] = leaving;
      if (!this.#socket.destroyed && first !== undefined) {
        this.#write(leaving.length === 1 ? first : Buffer.concat(leaving));
      }
    }
    if (this.#ending && this.#answers.length === 0) this.#socket.end();
  }

  #write(bytes: Buffer): void {
    if (bytes.length < FREED_BYTES_MIN) this.#socket.write(bytes);
    else this.#socket.write(bytes, () => freeOwnBytes(bytes));
  }
}
