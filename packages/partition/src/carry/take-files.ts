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
import { type OrderOf, tellStore } from './copy-work.ts';
import { PartFiles } from './part-files.ts';

interface Taken {
  readonly id: number;
  readonly files: PartFiles;
  readonly checksum: KeyedChecksum;
  received: number;
  /** The sync of earlier bytes; after a disk failure the last sync fails too. */
  lastSync: Promise<void>;
  syncedFrom: number;
  /** Time of the last progress report. */
  toldMs: number;
  socket: Socket | null;
}

/** What one connection receives. */
interface Arrival {
  readonly taken: Taken;
  readonly socket: Socket;
  readonly hide: StreamCipher | null;
  head: Buffer | null;
  /** The first error of this connection; nothing more is accepted after it. */
  fault: Error | null;
}

export class TakeFiles {
  /** Rate limit of all copies taken, together. */
  readonly bucket = new TokenBucket(() => performance.now());
  readonly #taken = new Map<number, Taken>();

  take({ id, parts, key }: OrderOf<'take'>): void {
    const files = PartFiles.open(parts, 'wx');
    const state = {
      received: 0,
      lastSync: Promise.resolve(),
      syncedFrom: 0,
      toldMs: performance.now(),
      socket: null,
    };
    this.#taken.set(id, { id, files, checksum: KeyedChecksum.of(key), ...state });
  }

  /** The socket reads into one buffer, which is written to the file before the next read. */
  fetch({ id, gate: { host, port, ticket, cipherKey } }: OrderOf<'fetch'>): void {
    const taken = this.#taken.get(id);
    if (taken === undefined) return;
    const callback = (length: number): boolean => this.#arrived(arrival, memory, length);
    const memory = Buffer.allocUnsafeSlow(copyWriteBytes);
    const socket = connect({ host, port, onread: { buffer: memory, callback } });
    const hide = streamCipher(cipherKey);
    const arrival: Arrival = { taken, socket, hide, head: Buffer.alloc(0), fault: null };
    taken.socket = socket;
    socket.setTimeout(copyConnectMsMax, () => socket.destroy(new Error('no data arrives')));
    let wasOpen = false;
    socket.once('connect', () => {
      wasOpen = true;
      socket.setTimeout(copySilenceMsMax);
      socket.write(packGreeting(ticket));
    });
    let reason = 'the source closed the connection';
    socket.once('error', ({ message }) => void (reason = message));
    socket.once('close', () => {
      if (this.#taken.get(id)?.socket !== socket) return;
      taken.socket = null;
      if (arrival.fault !== null) this.#failed(id, arrival.fault);
      else if (taken.received < taken.files.bytes) {
        const { received } = taken;
        tellStore({ kind: 'cut', id, wasOpen, received, message: reason });
      } else void this.#finish(taken);
    });
  }

  end(id: number): void {
    const taken = this.#taken.get(id);
    if (taken === undefined) return;
    this.#taken.delete(id);
    taken.socket?.destroy();
    void taken.files.close();
  }

  /** Returns false to pause reading, for now or for good. */
  #arrived(arrival: Arrival, memory: Buffer, length: number): boolean {
    try {
      const bytes = afterHead(arrival, memory.subarray(0, length));
      this.#writeShown(arrival, bytes);
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

  #writeShown({ taken, hide }: Arrival, bytes: Buffer): void {
    if (hide === null) return this.#write(taken, bytes);
    const shown = hide(bytes);
    this.#write(taken, shown);
    freeOwnBytes(shown);
  }

  #write(taken: Taken, bytes: Buffer): void {
    if (bytes.length === 0) return;
    taken.files.write(bytes, taken.received);
    taken.checksum.take(bytes);
    taken.received += bytes.length;
    if (performance.now() - taken.toldMs > copyReportMs) {
      taken.toldMs = performance.now();
      tellStore({ kind: 'received', id: taken.id, bytes: taken.received });
    }
    if (taken.received - taken.syncedFrom < copySyncBytes) return;
    taken.syncedFrom = taken.received;
    this.#sync(taken);
  }

  #sync(taken: Taken): void {
    taken.lastSync = taken.lastSync.then(() => taken.files.sync());
    taken.lastSync.catch(() => undefined); // #finish gets the error
  }

  /** Closes the files before it reports that they are synced. */
  async #finish(taken: Taken): Promise<void> {
    const { id, files } = taken;
    tellStore({ kind: 'taken', id, checksum: taken.checksum.text() });
    this.#sync(taken);
    try {
      await taken.lastSync;
      if (!this.#taken.delete(id)) return;
      await files.close();
      tellStore({ kind: 'synced', id });
    } catch (error) {
      this.#failed(id, error);
    }
  }

  #failed(id: number, error: unknown): void {
    this.end(id);
    const message = messageOf(error);
    const isFull = /ENOSPC|takes no more/.test(message);
    tellStore({ kind: 'failed', id, code: isFull ? 'DISK_FULL' : 'PEER_FAILED', message });
  }
}

/**
 * Returns what follows the head. Throws when the head is invalid or does not match the bytes to
 * come.
 */
function afterHead(arrival: Arrival, bytes: Buffer): Buffer {
  const { taken, head } = arrival;
  const wanted = taken.files.bytes - taken.received;
  if (head === null) {
    if (bytes.length <= wanted) return bytes;
    throw new Error(`more than ${taken.files.bytes} bytes arrived`);
  }
  const missing = headBytes - head.length;
  arrival.head = Buffer.concat([head, bytes.subarray(0, missing)]);
  if (arrival.head.length < headBytes) return bytes.subarray(0, 0);
  const length = lengthOf(arrival.head);
  arrival.head = null;
  if (length !== wanted)
    throw new Error(`the source announces ${length} bytes, ${wanted} are missing`);
  return afterHead(arrival, bytes.subarray(missing));
}
