// An archive as reads at quorum: of every key that was written before it began, and of all in it.
import { archivedRecords } from '../../../test/support/archived-records.ts';
import type { Operation } from '../../../test/support/history.ts';
import { withoutFiller } from '../filled-value.ts';

/**
 * Each read took as long as the archive: it may be of any moment from its first attempt to its end.
 * Throws ARCHIVE_INVALID.
 */
export async function archivedReads(
  folder: string,
  { history, begunMs }: { readonly history: readonly Operation[]; readonly begunMs: number },
): Promise<Operation[]> {
  const returnedMs = performance.now();
  const reads = new Map<string, Operation>();
  const read = { kind: 'read', level: 'quorum', outcome: 'acked', port: 0 } as const;
  const span = { invokedMs: begunMs, returnedMs };
  for (const { key, invokedMs } of history) {
    if (invokedMs < begunMs) reads.set(key, { ...read, ...span, key, value: null, stamp: null });
  }
  const found = new Set<string>();
  for (const { key: bytes, value, ms, tie } of await archivedRecords(folder)) {
    const key = Buffer.from(bytes).toString();
    const text = withoutFiller(Buffer.from(value).toString()) ?? '';
    // Nobody has written that.
    const named = found.has(key) ? `twice: ${text}` : text;
    found.add(key);
    reads.set(key, { ...read, ...span, key, value: named, stamp: { ms, tie } });
  }
  return [...reads.values()];
}
