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
import { TokenBucket } from '@ringwright/base/token-bucket';
import { afterOrders } from '@ringwright/node/background-program';
import { KeyedChecksum } from '../audit/keyed-checksum.ts';
import { greetingBytes, packHead, streamCipher, ticketOf } from './copy-greeting.ts';
import { type FilePart, type OrderOf, tellFailed, tellStore } from './copy-work.ts';
import { PartFiles } from './part-files.ts';

interface OutgoingFiles {
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
  readonly outgoing: OutgoingFiles;
  readonly offset: number;
  readonly cipherKey: string | null;
}

export class FileSender {
  /** Rate limit of all copies given, together. */
  readonly bucket = new TokenBucket(() => performance.now());
  readonly #outgoing = new Map<number, OutgoingFiles>();
  readonly #admissions = new Map<string, Admission>();
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
    this.#outgoing.set(id, { id, parts, files, checksum, summed: 0, socket: null });
  }

  admit({ id, ticket, offset, cipherKey }: OrderOf<'admit'>): void {
    const outgoing = this.#outgoing.get(id);
    if (outgoing !== undefined) this.#admissions.set(ticket, { outgoing, offset, cipherKey });
  }

  /** Copies the files aside and reads on from the copies; the reader does not notice. */
  async detach({ id, directory }: OrderOf<'detach'>): Promise<void> {
    const outgoing = this.#outgoing.get(id);
    if (outgoing === undefined) return;
    const source = outgoing.files;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const parts = outgoing.parts.map(({ path, bytes }) => {
      return { path: join(directory, basename(path)), bytes };
    });
    const target = PartFiles.open(parts, 'wx+');
    const piece = Buffer.allocUnsafe(copyWriteBytes);
    try {
      for (let at = 0; at < source.bytes && this.#outgoing.has(id); ) {
        const length = await source.read(piece, at);
        target.write(piece.subarray(0, length), at);
        at += length;
      }
      // Otherwise the copy has ended, and closed the source.
      if (this.#outgoing.has(id)) outgoing.files = target;
    } finally {
      if (outgoing.files !== target) await target.close();
    }
    if (outgoing.files !== target) return;
    await source.close();
    tellStore({ kind: 'detached', id });
  }

  end(id: number): void {
    const outgoing = this.#outgoing.get(id);
    if (outgoing === undefined) return;
    this.#outgoing.delete(id);
    for (const [ticket, admission] of this.#admissions) {
      if (admission.outgoing === outgoing) this.#admissions.delete(ticket);
    }
    outgoing.socket?.destroy();
    void outgoing.files.close();
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
    let received = Buffer.alloc(0);
    const onData = (bytes: Buffer): void => {
      received = Buffer.concat([received, bytes]);
      if (received.length < greetingBytes) return;
      socket.off('data', onData);
      // The order that admits the ticket was sent earlier, over another connection.
      afterOrders(() => this.#answer(received, socket));
    };
    socket.on('data', onData);
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
    const admission = ticket === null ? undefined : this.#admissions.get(ticket);
    if (ticket === null || admission === undefined) return null;
    this.#admissions.delete(ticket);
    return admission;
  }

  async #give(admission: Admission, socket: Socket): Promise<void> {
    const { outgoing } = admission;
    outgoing.socket?.destroy();
    outgoing.socket = socket;
    socket.setTimeout(copySilenceMsMax);
    socket.setNoDelay(true);
    try {
      await this.#send(admission, socket);
    } catch (error) {
      socket.destroy();
      if (socket.destroyed && !this.#outgoing.has(outgoing.id)) return;
      tellFailed(outgoing.id, error);
    }
  }

  /** Resolves early when the connection breaks: the reader may reconnect. */
  async #send({ outgoing, offset, cipherKey }: Admission, socket: Socket): Promise<void> {
    const encrypt = streamCipher(cipherKey);
    const { bytes } = outgoing.files;
    const pieces = [Buffer.allocUnsafeSlow(copyPieceBytes), Buffer.allocUnsafeSlow(copyPieceBytes)];
    let reportedMs = performance.now();
    // The next piece is read while the kernel takes the previous one.
    let lastWrite = written(socket, packHead(bytes - offset));
    for (let at = offset; at < bytes; ) {
      const [piece = Buffer.alloc(0)] = pieces;
      pieces.reverse();
      // Under a rate limit pieces are small, or some copies would wait for long behind others.
      const bytesMax = this.bucket.rate === null ? copyPieceBytes : copyWriteBytes;
      const length = await outgoing.files.read(piece.subarray(0, bytesMax), at);
      const read = piece.subarray(0, length);
      addNew(outgoing, read, at);
      at += length;
      await lastWrite;
      if (socket.destroyed) return;
      this.bucket.take(length);
      const waitMs = this.bucket.debtMs();
      if (waitMs > 0) await delay(waitMs);
      lastWrite = encrypt === null ? written(socket, read) : writtenOnce(socket, encrypt(read));
      if (performance.now() - reportedMs < copyReportMs) continue;
      reportedMs = performance.now();
      tellStore({ kind: 'sent', id: outgoing.id, bytes: at });
    }
    await lastWrite;
    // Also when the connection broke: the reader may have all bytes, and ask for nothing more.
    if (outgoing.summed === bytes) this.#reportChecksum(outgoing);
    if (!socket.destroyed) socket.end();
  }

  /** Reports the checksum once: a reader that reconnects after the end of the file has it. */
  #reportChecksum(file: OutgoingFiles): void {
    file.summed = Number.POSITIVE_INFINITY;
    tellStore({ kind: 'given', id: file.id, checksum: file.checksum.text() });
  }
}

/** Adds only bytes that the checksum does not cover yet. Once reported it takes nothing more. */
function addNew(file: OutgoingFiles, read: Buffer, at: number): void {
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
