// Checks receipts/: the receipts of each version are those that its log entry names, and prove its
// moves.
import { resultOrErrorOf } from '@ringwright/base/coded-error';
import type { Finding } from '@ringwright/base/finding';
import { sha256 } from '@ringwright/base/sha256';
import { nullIfMissing } from '@ringwright/node/missing-file';
import { readRegularText } from '@ringwright/node/read-regular-file';
import type { Ring } from '@ringwright/ring/ring';
import { type MoveReceipt, openReceipt } from '@ringwright/ring/trust/move-receipt';
import { type LogEntry, makesVersion, type Pruning } from '../folder/log-entry.ts';
import { logLines } from '../folder/read-log.ts';
import {
  archiveOf,
  type RingFolder,
  receiptsFileName,
  receiptsPath,
} from '../folder/ring-folder.ts';
import { finalizedMoves, forcedMoves, judgeProof, proofOf } from '../shared/move-proof.ts';

/** Totals of a ring's receipts. */
export interface ReceiptTotals {
  /** Moves that versions have finalized, where both versions could be read. */
  moves: number;
  receipts: number;
  forced: number;
  /** Bytes of the whole files that receipts name. */
  bytes: number;
  rows: number;
  /** Versions whose receipts are missing in this copy of the folder. */
  absent: number;
}

export interface ReceiptChecks {
  readonly totals: ReceiptTotals;
  /** `pruning`: the note that pruned the version of the entry; null if it was not pruned. */
  readonly check: (
    entry: LogEntry,
    rings: { readonly previous: Ring; readonly next: Ring },
    pruning: Pruning | null,
  ) => Promise<readonly Finding[]>;
}

/**
 * Returns checks to call for one version after the other, oldest first. `shared`: the history comes
 * from a head store, to which older releases sent no receipts. Missing receipts are then counted,
 * and are no fault.
 */
export function receiptChecks(
  folder: RingFolder,
  { shared }: { readonly shared: boolean },
): ReceiptChecks {
  const totals = { moves: 0, receipts: 0, forced: 0, bytes: 0, rows: 0, absent: 0 };
  const keys = new Map<string, string | null>();
  const check: ReceiptChecks['check'] = async (entry, rings, pruning) => {
    const moves = finalizedMoves(rings.previous, rings.next);
    const proof = proofOf(entry);
    if (moves.length === 0 && proof === null) return [];
    totals.moves += moves.length;
    const { version } = entry;
    const text = await receiptsOf(folder, version, pruning);
    const named = proof?.receipts ?? { count: 0, sha256: sha256('') };
    if (sha256(text) !== named.sha256) {
      if (text === '' && shared) {
        totals.absent += 1;
        return [];
      }
      const receipts = `receipts of version ${version}`;
      const message = `${receipts} are not the ${named.count} that the log names`;
      return [{ code: 'RECEIPTS_WRONG', message }];
    }
    const lines = logLines(text);
    const { findings, receipts } = judgeProof(
      rings,
      lines.map((line) => resultOrErrorOf(() => openReceipt(line))),
    );
    if (findings.length === 0) {
      findings.push(...addUp(receipts, totals, keys));
      const [logged, found] = [proof?.forced ?? [], forcedMoves(receipts)];
      totals.forced += found.length;
      if (JSON.stringify(logged) !== JSON.stringify(found)) {
        const message = `the log names ${logged.length} forced moves, receipts ${found.length}`;
        findings.push({ code: 'RECEIPTS_WRONG', message });
      }
    }
    return findings.map((one) => ({ ...one, message: `version ${version}: ${one.message}` }));
  };
  return { totals, check };
}

/** Returns the receipts in the folder or, of a pruned version, in the archive; '' if neither. */
async function receiptsOf(
  folder: RingFolder,
  version: number,
  pruning: Pruning | null,
): Promise<string> {
  const text = await readRegularText(receiptsPath(folder, version)).catch(nullIfMissing);
  if (text !== null) return text;
  if (pruning === null || pruning.archive === null) return '';
  const archived = receiptsPath(archiveOf(pruning.archive, folder.ring), version);
  return (await readRegularText(archived).catch(nullIfMissing)) ?? '';
}

/**
 * Adds up receipts, and checks that each data directory signs with one key for life, that of its
 * first receipt.
 */
function addUp(
  receipts: readonly MoveReceipt[],
  totals: ReceiptTotals,
  keys: Map<string, string | null>,
): Finding[] {
  const findings: Finding[] = [];
  for (const { to, born, key, copy } of receipts) {
    totals.receipts += 1;
    totals.bytes += copy?.bytes ?? 0;
    totals.rows += copy?.rows ?? 0;
    const knownKey = keys.get(born);
    if (knownKey === undefined) keys.set(born, key);
    else if (knownKey !== key) {
      const message = `the directory of d${to} (${born}) signed with two keys`;
      findings.push({ code: 'RECEIPT_KEY_CHANGED', message });
    }
  }
  return findings;
}

/** Finds files in receipts/, by their names, that no version of the log names. */
export function strayReceipts(names: readonly string[], entries: readonly LogEntry[]): Finding[] {
  const named = new Set(
    entries
      .filter((entry) => makesVersion(entry) && (proofOf(entry)?.receipts.count ?? 0) > 0)
      .map(({ version }) => receiptsFileName(version)),
  );
  return names
    .filter((name) => !named.has(name))
    .map((name) => ({ code: 'FILE_STRAY', message: `receipts/${name} belongs to no version` }));
}
