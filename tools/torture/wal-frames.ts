// Whether a checkpoint has moved the WAL of a partition into its file, seen from outside.
import fs from 'node:fs';

/** Sizes and offsets in a WAL: https://www.sqlite.org/fileformat2.html#walformat */
const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const PAGE_BYTES_AT = 8;
const SALTS_AT = { header: 16, frame: 8 };
const SALTS_BYTES = 8;

/**
 * Whether the last frame of each page is in the file. Every transaction updates the single row of
 * `meta`, so at least that page differs when the WAL was not moved.
 */
export function isInFile(wal: string): boolean {
  const bytes = fs.readFileSync(wal);
  const file = fs.readFileSync(wal.slice(0, -'-wal'.length));
  const pages = lastFrames(bytes);
  return [...pages].every(([number, page]) => {
    const at = (number - 1) * page.length;
    return page.equals(file.subarray(at, at + page.length));
  });
}

/** Returns by page its content in the newest frame of the present header. */
function lastFrames(wal: Buffer): Map<number, Buffer> {
  const pages = new Map<number, Buffer>();
  if (wal.length < HEADER_BYTES) return pages;
  const pageBytes = wal.readUInt32BE(PAGE_BYTES_AT);
  const salts = wal.subarray(SALTS_AT.header, SALTS_AT.header + SALTS_BYTES);
  const frameBytes = FRAME_HEADER_BYTES + pageBytes;
  for (let at = HEADER_BYTES; at + frameBytes <= wal.length; at += frameBytes) {
    const frameSalts = wal.subarray(at + SALTS_AT.frame, at + SALTS_AT.frame + SALTS_BYTES);
    if (pageBytes === 0 || !frameSalts.equals(salts)) break;
    const page = wal.subarray(at + FRAME_HEADER_BYTES, at + frameBytes);
    pages.set(wal.readUInt32BE(at), page);
  }
  return pages;
}
