// The pages of an open partition file that checkpoints write while another process copies the file.
import { closeSync, openSync, readSync } from 'node:fs';
import { pageBytes } from './schema.ts';

/**
 * Bytes of a WAL header, and below of a frame: https://www.sqlite.org/fileformat2.html#walformat
 */
export const walHeaderBytes = 32;
const FRAME_HEADER_BYTES = 24;
export const walFrameBytes = FRAME_HEADER_BYTES + pageBytes;

/** WAL frames read at once: 1 MiB. */
const FRAMES_AT_ONCE = 256;

export class ChangedPages {
  /** Some pages could not be recorded: a copy that relies on this set is worthless. */
  isBroken = false;
  readonly #pages = new Set<number>();

  get bytes(): number {
    return this.#pages.size * pageBytes;
  }

  /**
   * Records the pages in the first `frames` of the WAL, before a checkpoint writes them. Reads 1
   * MiB in ~0.3 ms.
   */
  note(wal: string, frames: number): void {
    try {
      this.#read(wal, frames);
    } catch {
      // Out of descriptors. The checkpoint goes on.
      this.isBroken = true;
    }
  }

  #read(wal: string, frames: number): void {
    using cleanup = new DisposableStack();
    const handle = cleanup.adopt(openSync(wal, 'r'), closeSync);
    const piece = Buffer.allocUnsafe(FRAMES_AT_ONCE * walFrameBytes);
    for (let frame = 0; frame < frames; frame += FRAMES_AT_ONCE) {
      const length = Math.min(frames - frame, FRAMES_AT_ONCE) * walFrameBytes;
      const read = readSync(handle, piece, 0, length, walHeaderBytes + frame * walFrameBytes);
      if (read !== length) throw new Error(`${wal} ends before its frame ${frames}`);
      for (let at = 0; at < length; at += walFrameBytes) this.#pages.add(piece.readUInt32BE(at));
    }
  }

  /** Returns the page numbers recorded since the last call, ascending, from 1. */
  take(): Uint32Array<ArrayBuffer> {
    const pages = Uint32Array.from(this.#pages).sort();
    this.#pages.clear();
    return pages;
  }
}
