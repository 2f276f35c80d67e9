// Heads that etcd or the ring stores lost. A working copy publishes them again, but not if it is
// behind: ring stores still have what was committed.
import { CodedError } from '@ringwright/base/coded-error';
import type { HeadRecord } from '@ringwright/head-store/head-record';
import { laterTransactions, type StoredTransaction } from '@ringwright/head-store/ring-store';
import { headOf, parseRingLog, type RingLog } from '../folder/read-log.ts';
import type { RingFolder } from '../folder/ring-folder.ts';

/** Whether the log has the head's commit, and after it only commits that were heads too. */
export function hasHead({ hashes, entries }: RingLog, record: HeadRecord): boolean {
  const at = hashes.indexOf(record.log);
  const later = entries.slice(at + 1);
  return at >= 0 && later.every(({ details }) => typeof details['transaction'] === 'string');
}

/**
 * Requires that no ring store has a commit that `log` lacks. A ring store that does not answer is
 * skipped: a majority has to store the first head, so most of them answer. Throws HEAD_LOST.
 */
export async function requireNothingLost(
  folder: RingFolder,
  stores: readonly string[],
  log: RingLog,
): Promise<void> {
  for (const store of stores) {
    const found = (await laterTransactions(store, folder.ring)).find(
      ({ content }) => !log.text.startsWith(content.log),
    );
    if (found !== undefined) throw headLost(folder, found);
  }
}

function headLost(folder: RingFolder, { path, content }: StoredTransaction): CodedError {
  const { ring } = folder;
  const version = headOf(parseRingLog(folder, content.log).entries)?.version ?? 0;
  const commit = `${path} has a commit that is not in ${folder.log}`;
  const message = `the store lost the head of ${ring}: ${commit}`;
  return new CodedError('HEAD_LOST', message, {
    hint:
      `ring-builder status ${ring}, in the folder of rings that has version ${version}, ` +
      `publishes it again; if that commit failed, or no folder has it: rm ${path}`,
    details: { ring, version, path },
  });
}
