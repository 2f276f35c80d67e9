// The rows of a table as bytes. Native files are big-endian, Swift's files have either order. Pure.
import type { SlotRow, Table } from '../ring.ts';

interface WordForm {
  readonly idBytes: 2 | 4;
  readonly order: 'little' | 'big';
}

const hostOrder = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1 ? 'little' : 'big';

/**
 * Returns rows over one new buffer, of `partitions` ids each; the last row has the rest. The length
 * must be a multiple of the id size.
 */
export function rowsOfBytes(bytes: Uint8Array, form: WordForm, partitions: number): SlotRow[] {
  const buffer = new ArrayBuffer(bytes.length);
  const copy = Buffer.from(buffer);
  copy.set(bytes);
  inHostOrder(copy, form);
  const rows: SlotRow[] = [];
  for (let at = 0; at < bytes.length; at += partitions * form.idBytes) {
    const length = Math.min(partitions, (bytes.length - at) / form.idBytes);
    const row =
      form.idBytes === 2
        ? new Uint16Array(buffer, at, length)
        : new Uint32Array(buffer, at, length);
    rows.push(row);
  }
  return rows;
}

export function bytesOfRows(table: Table, form: WordForm): Buffer {
  const slots = table.reduce((sum, row) => sum + row.length, 0);
  const words = form.idBytes === 2 ? new Uint16Array(slots) : new Uint32Array(slots);
  let at = 0;
  for (const row of table) {
    words.set(row, at);
    at += row.length;
  }
  return inHostOrder(Buffer.from(words.buffer), form);
}

/** Swaps the bytes in place, from or to the order of this machine, where the orders differ. */
function inHostOrder(bytes: Buffer, { idBytes, order }: WordForm): Buffer {
  if (order === hostOrder) return bytes;
  return idBytes === 2 ? bytes.swap16() : bytes.swap32();
}
