// Gives files to connections that present a ticket. Runs in the carrier.
import { mkdirSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freeOwnBytes } from '@ringwright/base/free-bytes';
import {
  copyGreetingsMax,
  copyGreetMsMax,
  copyHoldLookMs,
  copyListenMsMax,
  copyPieceBytes,
  copyReportMs,
  copySilenceMsMax,
  copyWriteBytes,
} from '@ringwright/base/limits-copies';
import { messageOf } from '@ringwright/base/thrown';
import { TokenBucket } from '@ringwright/base/token-bucket';
import { afterOrders } from '@ringwright/node/background-program';
import { KeyedChecksum } from '../audit/keyed-checksum.ts';
import { greetingBytes, packHead, streamCipher, ticketOf } from './copy-greeting.ts';
import { type FilePart, type OrderOf, tellStore } from './copy-work.ts';
import { PartFiles } from './part-files.ts';

interface Given {
  readonly id: number;
  readonly checksum: KeyedChecksum;
  readonly parts: readonly FilePart[];
  files: PartFiles;
  /** Bytes that the checksum covers so far. */
  summed: number;
  /** The current reader. A newer ticket disconnects it. */
  socket: Socket | null;
}

interface Admission {
  readonly given: Given;
  readonly offset: number;
  readonly cipherKey: string | null;
}

export class GiveFiles {
  /** Rate limit of all copies given, together. */
  readonly bucket = new TokenBucket(() => performance.now());
  readonly #given = new Map<number, Given>();
  readonly #admitted = new Map<string, Admission>();
  /** Connections that have not presented a ticket yet, oldest first. */
  readonly #greeting = new Set<Socket>();

  /** Retries for a while: the carrier of a server that was just killed may still have the port. */
  listen(order: OrderOf<'listen'>, untilMs = performance.now() + copyListenMsMax): void {
    const server = createServer((socket) => this.#greet(socket));
    server.on('error', ({ message }) => {
      const isLate = performance.now() > untilMs;
      if (isLate) tellStore({ kind: 'not-listening', message });
      else setTimeout(() => this.listen(order, untilMs), copyHoldLookMs);
    });
    server.listen(order.port, order.host, () => {
      const address = server.address();
      if (address === null || typeof address === 'string') return;
      tellStore({ kind: 'listening', port: address.port });
    });
  }

  give({ id, parts, key }: OrderOf<'give'>): void {
    const files = PartFiles.open(parts, 'r');
    const checksum = KeyedChecksum.of(key);
    this.#given.set(id, { id, parts, files, checksum, summed: 0, socket: null });
  }

  admit({ id, ticket, offset, cipherKey }: OrderOf<'admit'>): void {
    const given = this.#given.get(id);
    if (given !== undefined) this.#admitted.set(ticket, { given, offset, cipherKey });
  }

  /** Copies the files aside and reads on from the copies; the reader does not notice. */
  async detach({ id, directory }: OrderOf<'detach'>): Promise<void> {
    const given = this.#given.get(id);
    if (given === undefined) return;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const parts = given.parts.map(({ path, bytes }) => {
      return { path: join(directory, basename(path)), bytes };
    });
    const held = given.files;
    const aside = PartFiles.open(parts, 'wx+');
    const piece = Buffer.allocUnsafe(copyWriteBytes);
    for (let at = 0; at < held.bytes; ) {
      const length = await held.read(piece, at);
      aside.write(piece.subarray(0, length), at);
      at += length;
    }
    given.files = aside;
    await held.close();
    tellStore({ kind: 'detached', id });
  }

  end(id: number): void {
    const given = this.#given.get(id);
    if (given === undefined) return;
    this.#given.delete(id);
    for (const [ticket, admission] of this.#admitted) {
      if (admission.given === given) this.#admitted.delete(ticket);
    }
    given.socket?.destroy();
    void given.files.close();
  }

  /**
   * Disconnects a connection that presents no ticket in time, or at once when too many others wait.
   * Connections with a ticket are limited by the number of copies, and others cannot displace them.
   */
  #greet(socket: Socket): void {
    const [oldest] = this.#greeting;
    if (this.#greeting.size >= copyGreetingsMax) oldest?.destroy();
    this.#greeting.add(socket);
    socket.on('close', () => this.#greeting.delete(socket));
    socket.on('error', () => undefined); // 'close' follows
    socket.setTimeout(copyGreetMsMax, () => socket.destroy());
    let came = Buffer.alloc(0);
    const take = (bytes: Buffer): void => {
      came = Buffer.concat([came, bytes]);
      if (came.length < greetingBytes) return;
      socket.off('data', take);
      // The order that admits the ticket was sent earlier, over another connection.
      afterOrders(() => this.#answer(came, socket));
    };
    socket.on('data', take);
  }

  #answer(greeting: Buffer, socket: Socket): void {
    this.#greeting.delete(socket);
    if (socket.destroyed) return;
    const admission = this.#useTicket(greeting);
    if (admission === null) socket.destroy();
    else void this.#give(admission, socket);
  }

  /** Returns the ticket's admission, which is valid once. */
  #useTicket(greeting: Buffer): Admission | null {
    const ticket = ticketOf(greeting);
    const admission = ticket === null ? undefined : this.#admitted.get(ticket);
    if (ticket === null || admission === undefined) return null;
    this.#admitted.delete(ticket);
    return admission;
  }

  async #give(admission: Admission, socket: Socket): Promise<void> {
    const { given } = admission;
    given.socket?.destroy();
    given.socket = socket;
    socket.setTimeout(copySilenceMsMax);
    socket.setNoDelay(true);
    try {
      await this.#send(admission, socket);
    } catch (error) {
      socket.destroy();
      if (socket.destroyed && !this.#given.has(given.id)) return;
      const message = messageOf(error);
      tellStore({ kind: 'failed', id: given.id, code: 'PEER_FAILED', message });
    }
  }

  /** Resolves early when the connection breaks: the reader may reconnect. */
  async #send({ given, offset, cipherKey }: Admission, socket: Socket): Promise<void> {
    const hide = streamCipher(cipherKey);
    const { bytes } = given.files;
    const pieces = [Buffer.allocUnsafeSlow(copyPieceBytes), Buffer.allocUnsafeSlow(copyPieceBytes)];
    let toldMs = performance.now();
    // The next piece is read while the kernel takes the previous one.
    let leaving = written(socket, packHead(bytes - offset));
    for (let at = offset; at < bytes; ) {
      const [piece = Buffer.alloc(0)] = pieces;
      pieces.reverse();
      // Under a rate limit pieces are small, or some copies would wait for long behind others.
      const most = this.bucket.rate === null ? copyPieceBytes : copyWriteBytes;
      const length = await given.files.read(piece.subarray(0, most), at);
      const read = piece.subarray(0, length);
      addNew(given, read, at);
      at += length;
      await leaving;
      if (socket.destroyed) return;
      this.bucket.take(length);
      const waitMs = this.bucket.debtMs();
      if (waitMs > 0) await delay(waitMs);
      leaving = hide === null ? written(socket, read) : writtenOnce(socket, hide(read));
      if (performance.now() - toldMs < copyReportMs) continue;
      toldMs = performance.now();
      tellStore({ kind: 'sent', id: given.id, bytes: at });
    }
    await leaving;
    if (socket.destroyed) return;
    socket.end();
    if (given.summed === bytes) this.#tellChecksum(given);
  }

  /** Reports the checksum once: a reader that reconnects after the end of the file has it. */
  #tellChecksum(file: Given): void {
    file.summed = Number.POSITIVE_INFINITY;
    tellStore({ kind: 'given', id: file.id, checksum: file.checksum.text() });
  }
}

/** Adds only bytes that the checksum does not cover yet. Once reported it takes nothing more. */
function addNew(file: Given, read: Buffer, at: number): void {
  const end = at + read.length;
  if (end <= file.summed) return;
  file.checksum.take(read.subarray(Math.max(0, file.summed - at)));
  file.summed = end;
}

/** Frees the memory after the write: garbage collection would run too seldom. */
async function writtenOnce(socket: Socket, bytes: Buffer): Promise<void> {
  await written(socket, bytes);
  freeOwnBytes(bytes);
}

/** Resolves when the kernel has taken all bytes, or the connection is gone. */
function written(socket: Socket, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    if (socket.destroyed) resolve();
    else socket.write(bytes, () => resolve());
  });
}
