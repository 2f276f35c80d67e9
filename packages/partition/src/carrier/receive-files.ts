// Receives partition copies from other servers' carriers and writes them to files. Runs in the
// carrier.
import { connect, type Socket } from 'node:net';
import { freeOwnBytes } from '@ringwright/base/free-bytes';
import {
  copyConnectMsMax,
  copyReportMs,
  copySilenceMsMax,
  copySyncBytes,
  copyWriteBytes,
} from '@ringwright/base/limits-copies';
import { messageOf } from '@ringwright/base/thrown';
import { TokenBucket } from '@ringwright/base/token-bucket';
import { KeyedChecksum } from '../audit/keyed-checksum.ts';
import {
  headBytes,
  lengthOf,
  packGreeting,
  type StreamCipher,
  streamCipher,
} from './copy-greeting.ts';
import { type OrderOf, tellFailed, tellStore } from './copy-work.ts';
import { PartFiles } from './part-files.ts';

interface IncomingFiles {
  readonly id: number;
  readonly files: PartFiles;
  readonly checksum: KeyedChecksum;
  received: number;
  /** The sync of earlier bytes; after a disk failure the last sync fails too. */
  lastSync: Promise<void>;
  syncedFrom: number;
  /** Time of the last progress report. */
  reportedMs: number;
  socket: Socket | null;
}

/** What one connection receives. */
interface Arrival {
  readonly incoming: IncomingFiles;
  readonly socket: Socket;
  readonly decrypt: StreamCipher | null;
  head: Buffer | null;
  /** The first error of this connection; nothing more is accepted after it. */
  fault: Error | null;
}

export class FileReceiver {
  /** Rate limit of all copies taken, together. */
  readonly bucket = new TokenBucket(() => performance.now());
  readonly #incoming = new Map<number, IncomingFiles>();

  take({ id, parts, key }: OrderOf<'take'>): void {
    const files = PartFiles.open(parts, 'wx');
    const state = {
      received: 0,
      lastSync: Promise.resolve(),
      syncedFrom: 0,
      reportedMs: performance.now(),
      socket: null,
    };
    this.#incoming.set(id, { id, files, checksum: KeyedChecksum.of(key), ...state });
  }

  /** The socket reads into one buffer, which is written to the file before the next read. */
  fetch({ id, gate: { host, port, ticket, cipherKey } }: OrderOf<'fetch'>): void {
    const incoming = this.#incoming.get(id);
    if (incoming === undefined) return;
    const callback = (length: number): boolean => this.#arrived(arrival, memory, length);
    const memory = Buffer.allocUnsafeSlow(copyWriteBytes);
    const socket = connect({ host, port, onread: { buffer: memory, callback } });
    const decrypt = streamCipher(cipherKey);
    const arrival: Arrival = { incoming, socket, decrypt, head: Buffer.alloc(0), fault: null };
    incoming.socket = socket;
    socket.setTimeout(copyConnectMsMax, () => socket.destroy(new Error('no data arrives')));
    let wasOpen = false;
    socket.once('connect', () => {
      wasOpen = true;
      socket.setTimeout(copySilenceMsMax);
      socket.write(packGreeting(ticket));
    });
    let reason = 'the source closed the connection';
    socket.once('error', (error) => void (reason = messageOf(error)));
    socket.once('close', () => {
      if (this.#incoming.get(id)?.socket !== socket) return;
      incoming.socket = null;
      if (arrival.fault !== null) this.#failed(id, arrival.fault);
      else if (incoming.received < incoming.files.bytes) {
        const { received } = incoming;
        tellStore({ kind: 'cut', id, wasOpen, received, message: reason });
      } else void this.#finish(incoming);
    });
  }

  end(id: number): void {
    const incoming = this.#incoming.get(id);
    if (incoming === undefined) return;
    this.#incoming.delete(id);
    incoming.socket?.destroy();
    void incoming.files.close();
  }

  /** Returns false to pause reading, for now or for good. */
  #arrived(arrival: Arrival, memory: Buffer, length: number): boolean {
    try {
      const bytes = afterHead(arrival, memory.subarray(0, length));
      this.#writeDecrypted(arrival, bytes);
    } catch (error) {
      arrival.fault = error instanceof Error ? error : new Error(String(error));
      arrival.socket.destroy();
      return false;
    }
    this.bucket.take(length);
    const waitMs = this.bucket.debtMs();
    if (waitMs > 0) setTimeout(() => arrival.socket.resume(), waitMs);
    return waitMs === 0;
  }

  #writeDecrypted({ incoming, decrypt }: Arrival, bytes: Buffer): void {
    if (decrypt === null) return this.#write(incoming, bytes);
    const plain = decrypt(bytes);
    this.#write(incoming, plain);
    freeOwnBytes(plain);
  }

  #write(incoming: IncomingFiles, bytes: Buffer): void {
    if (bytes.length === 0) return;
    incoming.files.write(bytes, incoming.received);
    incoming.checksum.take(bytes);
    incoming.received += bytes.length;
    if (performance.now() - incoming.reportedMs > copyReportMs) {
      incoming.reportedMs = performance.now();
      tellStore({ kind: 'received', id: incoming.id, bytes: incoming.received });
    }
    if (incoming.received - incoming.syncedFrom < copySyncBytes) return;
    incoming.syncedFrom = incoming.received;
    this.#sync(incoming);
  }

  #sync(incoming: IncomingFiles): void {
    incoming.lastSync = incoming.lastSync.then(() => incoming.files.sync());
    incoming.lastSync.catch(() => undefined); // #finish gets the error
  }

  /** Closes the files before it reports that they are synced. */
  async #finish(incoming: IncomingFiles): Promise<void> {
    const { id, files } = incoming;
    tellStore({ kind: 'taken', id, checksum: incoming.checksum.text() });
    this.#sync(incoming);
    try {
      await incoming.lastSync;
      if (!this.#incoming.delete(id)) return;
      await files.close();
      tellStore({ kind: 'synced', id });
    } catch (error) {
      this.#failed(id, error);
    }
  }

  #failed(id: number, error: unknown): void {
    this.end(id);
    tellFailed(id, error);
  }
}

/**
 * Returns what follows the head. Throws when the head is invalid or does not match the bytes to
 * come.
 */
function afterHead(arrival: Arrival, bytes: Buffer): Buffer {
  const { incoming, head } = arrival;
  const remaining = incoming.files.bytes - incoming.received;
  if (head === null) {
    if (bytes.length <= remaining) return bytes;
    throw new Error(`more than ${incoming.files.bytes} bytes arrived`);
  }
  const missing = headBytes - head.length;
  arrival.head = Buffer.concat([head, bytes.subarray(0, missing)]);
  if (arrival.head.length < headBytes) return bytes.subarray(0, 0);
  const length = lengthOf(arrival.head);
  arrival.head = null;
  if (length !== remaining)
    throw new Error(`the source announces ${length} bytes, ${remaining} are missing`);
  return afterHead(arrival, bytes.subarray(missing));
}
