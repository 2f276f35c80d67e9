// A ring's folder made of that in another folder of rings: its whole history, with the log.
import { cp } from 'node:fs/promises';
import { must } from '@ringwright/base/assert';
import { replaceDurably } from '@ringwright/node/durable-files';
import { exists } from '@ringwright/node/missing-file';
import { printBuilderFile } from './folder/builder-file.ts';
import { type Placing, putInPlace } from './folder/put-in-place.ts';
import { readRingLog } from './folder/read-log.ts';
import { readVersion } from './folder/read-version.ts';
import { ringFolder } from './folder/ring-folder.ts';
import type { RingsTrust } from './folder/trust-file.ts';
import { type Restored, signersOf } from './restore-ring.ts';

export interface HistoryToCopy extends Placing {
  /** The other folder of rings. */
  readonly from: string;
  /** Whose signatures its head must carry. */
  readonly trust: RingsTrust | null;
}

/**
 * What is staged there is not taken. Throws RING_UNKNOWN, RING_EMPTY, RING_LOG_DAMAGED,
 * RING_FILE_INVALID, and what authenticateRing and putInPlace throw.
 */
export async function copyRing(
  { rings, ring }: { readonly rings: string; readonly ring: string },
  history: HistoryToCopy,
): Promise<Restored> {
  const { from, trust, author } = history;
  const source = ringFolder(from, ring);
  const head = await readVersion(from, ring, 'head');
  const signers = trust === null ? [] : signersOf(head.bytes, trust, author.time);
  const kept = await putInPlace(ringFolder(rings, ring), history, async (made) => {
    const log = await readRingLog(source);
    await cp(source.versions, made.versions, { recursive: true });
    if (await exists(source.receipts))
      await cp(source.receipts, made.receipts, { recursive: true });
    await replaceDurably(made.log, log.text);
    const at = { version: head.ring.version, id: head.id };
    const state = must(head.state, 'every committed version carries its builder');
    const file = { head: at, log: log.hashes.at(-1) ?? null, state, staged: [] };
    await replaceDurably(made.builder, printBuilderFile(file));
  });
  return { ring: head.ring, id: head.id, signed: head.signing !== null, signers, kept };
}
