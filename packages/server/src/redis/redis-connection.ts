// One connection of the Redis protocol: requests start as they are read, answers leave in order.
import type { Socket } from 'node:net';
import { byteText } from '@ringwright/base/as-buffer';
import { must } from '@ringwright/base/assert';
import { redisKeysAtOnce, redisOutputBytesMax, redisPipelineMax } from '@ringwright/base/limits';
import type { MaybePromise } from '@ringwright/base/maybe-promise';
import type { HeldBytes } from '../access/byte-budget.ts';
import type { NewContent } from '../coordinate/propose.ts';
import { type KeyEffect, KeyOrder, writeInOrder } from './key-order.ts';
import { failureReply, type PendingReply, writeAnswers } from './redis-answer.ts';
import { requireWordsFit } from './redis-args.ts';
import {
  keysOf,
  type RedisCall,
  type RedisClient,
  type RedisCommand,
  type RedisPorts,
  requireCommand,
} from './redis-command.ts';
import { type FoundCommand, findCommand } from './redis-commands.ts';
import { requireNoTransaction } from './redis-transactions.ts';
import { encodeReply, errorReply, longBulk, okReply, type RespReply } from './resp-reply.ts';
import { RespProtocolError, type RespRequest, RespRequests } from './resp-requests.ts';
import type { TurnBudget } from './turn-budget.ts';

export interface ConnectionPorts extends RedisPorts {
  /** Called when a command is answered; `name` is a name in the table or `unknown`. */
  readonly onCommand: (name: string, seconds: number) => void;
  readonly onProtocolError: () => void;
  readonly onBug: (error: unknown) => void;
}

/** The connection's part in what all connections share. */
interface RedisShare {
  readonly held: HeldBytes;
  /** Called when a request has arrived on this connection. */
  readonly onRequest: () => void;
  readonly turns: TurnBudget;
}

/** A web page that posts here to reach a server behind a firewall is cut off, as in Redis. */
const HTTP_WORDS = /^(post|host:)$/i;

/** Serves a socket until it closes. */
export class RedisConnection {
  readonly #socket: Socket;
  readonly #ports: ConnectionPorts & RedisShare;
  readonly #client: RedisClient;
  readonly #requests = new RespRequests();
  readonly #order = new KeyOrder();
  /** Answers that were not sent yet, in the order of their requests. */
  #answers: PendingReply[] = [];
  #running = 0;
  #flushPlanned = false;
  /**
   * While true, new answers are not flushed: #pump does that when all requests read so far have
   * begun.
   */
  #isPumping = false;
  /**
   * When something in this turn last began or ended; one reading serves many requests. Null between
   * turns.
   */
  #turnMs: number | null = null;
  /** No more requests are read. The socket ends after the last answer. */
  #ending = false;
  readonly #goOn = (): void => this.#pump();
  /** The client sends nothing more, but may still be reading. */
  #inputEnded = false;

  constructor(socket: Socket, client: RedisClient, ports: ConnectionPorts & RedisShare) {
    this.#socket = socket;
    this.#client = client;
    this.#ports = ports;
    socket.setNoDelay(true);
    socket.on('data', (chunk) => {
      if (!this.#ending) this.#requests.push(chunk);
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
    // A 'close' follows every 'error', and the client is gone.
    socket.on('error', () => undefined);
  }

  /** Whether requests are under way, or answers wait to be sent. */
  get isBusy(): boolean {
    return this.#running > 0 || this.#answers.length > 0;
  }

  /** Reads no more requests. The socket ends when those under way are answered. */
  leave(): void {
    this.#ending = true;
    this.#pump();
  }

  /** Starts the requests that may start. Stops reading the socket while too many are under way. */
  #pump(): void {
    this.#isPumping = true;
    this.#turnMs ??= performance.now();
    // An answer may have arrived that many others waited behind.
    if (!this.#hasRoom()) this.#flush();
    let [count, hasMore] = [0, true];
    for (; hasMore && this.#mayBegin(count); this.#flush()) {
      while (hasMore && this.#mayBegin(count)) {
        const request = this.#nextRequest();
        hasMore = request !== null;
        if (request !== null) {
          count += 1;
          this.#begin(request);
        } else if (this.#inputEnded) this.#ending = true;
      }
    }
    if (count > 0) {
      this.#ports.held.noteProgress();
      this.#ports.onRequest();
    }
    // This connection has used its share of the turn.
    const isLate = hasMore && !this.#ending && this.#hasRoom();
    if (isLate) this.#ports.turns.wait(this.#goOn);
    if (!isLate && this.#hasRoom()) this.#socket.resume();
    else this.#socket.pause();
    this.#flush();
    this.#ports.held.hold(this.#requests.begunBytes + this.#socket.writableLength);
    this.#isPumping = false;
    this.#turnMs = null;
  }

  #mayBegin(count: number): boolean {
    if (this.#ending || !this.#hasRoom()) return false;
    return count < redisPipelineMax && !this.#ports.turns.isSpent();
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
      const reply = errorReply(`ERR Protocol error: ${error.message}`);
      this.#addReply('').bytes = encodeReply(reply, this.#client.protocol);
      this.#ending = true;
      return null;
    }
  }

  #begin(request: RespRequest): void {
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
    const call = { ports: this.#ports, client: this.#client, args, keyspace, consistency };
    const effect = command.isReadModifyWrite?.(args) ? 'swap' : command.effect;
    const answer = this.#addReply(name);
    try {
      requireWordsFit(args);
      requireCommand(command, call, effect);
      requireNoTransaction(name, this.#client);
      if (effect === 'write' && command.plainWrite !== undefined) {
        this.#put(answer, command.plainWrite(call), call);
      } else this.#run(answer, { command, call, effect });
    } catch (error) {
      this.#complete(answer, this.#replyForError(error));
    }
    if (name === 'quit') this.#ending = true;
  }

  /** Many commands are answered at once: those without keys, and reads of local records. */
  #run(
    answer: PendingReply,
    request: {
      readonly command: RedisCommand;
      readonly call: RedisCall;
      readonly effect: RedisCommand['effect'];
    },
  ): void {
    const { command, call, effect } = request;
    const run = (): MaybePromise<RespReply> => must(command.run, 'a command runs')(call);
    const reply =
      effect === 'none' ? run() : this.#inOrder(keysOf(command, call.args), effect, run);
    if (reply instanceof Promise) this.#await(answer, reply);
    else {
      this.#turnMs = performance.now();
      this.#complete(answer, reply);
    }
  }

  #inOrder(
    keys: readonly Uint8Array[],
    effect: KeyEffect,
    run: () => MaybePromise<RespReply>,
  ): MaybePromise<RespReply> {
    // An MSET of so many keys stamps some of them late: later writes must wait, as for a swap.
    const isLate = effect === 'write' && keys.length > redisKeysAtOnce;
    return this.#order.run(keys, isLate ? 'swap' : effect, run);
  }

  #put(answer: PendingReply, content: NewContent, call: RedisCall): void {
    this.#running += 1;
    const onEnd = (error: unknown): void => {
      this.#running -= 1;
      this.#complete(answer, error === null ? okReply : this.#replyForError(error));
    };
    try {
      writeInOrder(this.#order, { content, call }, onEnd);
    } catch (error) {
      onEnd(error);
    }
  }

  #refuseUnknown(request: RespRequest, error: unknown): void {
    if (HTTP_WORDS.test(byteText(request[0] ?? new Uint8Array()))) {
      this.#ports.onProtocolError();
      this.#ending = true;
      this.#socket.destroy();
      return;
    }
    this.#complete(this.#addReply('unknown'), this.#replyForError(error));
  }

  #addReply(name: string): PendingReply {
    const answer = { bytes: null, rest: null, name, startMs: this.#nowMs() };
    this.#answers.push(answer);
    return answer;
  }

  #nowMs(): number {
    this.#turnMs ??= performance.now();
    return this.#turnMs;
  }

  #replyForError(error: unknown): RespReply {
    const { reply, isBug } = failureReply(error);
    if (isBug) this.#ports.onBug(error);
    return reply;
  }

  #await(answer: PendingReply, work: Promise<RespReply>): void {
    const { protocol } = this.#client;
    this.#running += 1;
    const end = (reply: RespReply): void => {
      this.#running -= 1;
      this.#complete(answer, reply, protocol);
    };
    work.then(end, (error: unknown) => end(this.#replyForError(error))).catch(this.#ports.onBug);
  }

  #complete(answer: PendingReply, reply: RespReply, protocol = this.#client.protocol): void {
    const long = longBulk(reply);
    answer.bytes = long?.head ?? encodeReply(reply, protocol);
    answer.rest = long?.rest ?? null;
    this.#ports.onCommand(answer.name, (this.#nowMs() - answer.startMs) / 1000);
    if (!this.#isPumping) this.#flushSoon();
  }

  /** Answers that become ready in one turn leave in one write; a single one leaves at once. */
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
      const replies = this.#answers.slice(0, ready);
      this.#answers = ready === this.#answers.length ? [] : this.#answers.slice(ready);
      if (!this.#socket.destroyed) writeAnswers(this.#socket, replies);
    }
    if (this.#ending && this.#answers.length === 0) this.#socket.end();
  }
}
