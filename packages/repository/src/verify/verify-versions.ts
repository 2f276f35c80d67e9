// Checks every version's file: intact, with the id in the log, a valid ring, a legal successor.
import { CodedError, resultOrError } from '@ringwright/base/coded-error';
import type { Finding } from '@ringwright/base/finding';
import { auditRing } from '@ringwright/ring/audit/audit-ring';
import { auditTransition } from '@ringwright/ring/audit/audit-transition';
import { type LogEntry, makesVersion, pruningOf } from '../folder/log-entry.ts';
import { readVersionFile, type StoredVersion, versionFilePath } from '../folder/read-version.ts';
import { type RingFolder, versionOfFileName } from '../folder/ring-folder.ts';
import { stagedDigestOf } from '../folder/staged-section.ts';
import type { ReceiptChecks } from './verify-receipts.ts';

interface VerifiedVersions {
  readonly findings: readonly Finding[];
  /** Pruned versions without an archive here, which were not read. */
  readonly pruned: number;
  /** The newest readable version, if it is the last one of the log. */
  readonly head: StoredVersion | null;
}

/**
 * Reads one version at a time, so memory holds at most two. Pruned versions are read from their
 * archive. Without the archive, only the ids in the log's chain are checked.
 */
export async function verifyVersions(
  folder: RingFolder,
  entries: readonly LogEntry[],
  checks: {
    /** The names of the files in versions/, read with the log. */
    readonly names: readonly string[];
    readonly signatures: (entry: LogEntry, stored: StoredVersion) => readonly Finding[];
    readonly receipts: ReceiptChecks['check'];
  },
): Promise<VerifiedVersions> {
  const versionEntries = entries.filter(makesVersion);
  const findings = strayFiles(checks.names, versionEntries);
  let previous: StoredVersion | null = null;
  let pruned = 0;
  for (const entry of versionEntries) {
    const pruning = pruningOf(entries, entry.version);
    const path = await versionFilePath(folder, entry.version, pruning);
    if (path === null) {
      pruned += 1;
      previous = null;
      continue;
    }
    const stored = await resultOrError(readVersionFile(folder, entry.version, path));
    if (stored instanceof CodedError) {
      findings.push(finding(entry.version, stored.code, stored.message));
      previous = null;
      continue;
    }
    findings.push(...versionFindings(folder, entry, stored), ...checks.signatures(entry, stored));
    if (previous !== null) {
      findings.push(...transitionFindings(previous, stored));
      const rings = { previous: previous.ring, next: stored.ring };
      findings.push(...(await checks.receipts(entry, rings, pruning)));
    }
    previous = stored;
  }
  return { findings, pruned, head: previous };
}

function versionFindings(folder: RingFolder, entry: LogEntry, stored: StoredVersion): Finding[] {
  const { version } = entry;
  const { ring, id, state, extraSections } = stored;
  const findings = auditRing(ring).map((one) => finding(version, one.code, one.message));
  if (id !== entry.id) {
    const message = `its file has id ${id}, but the log says ${entry.id}`;
    findings.push(finding(version, 'VERSION_ID_WRONG', message));
  }
  if (ring.keyspace !== folder.ring || ring.version !== version || ring.parent !== entry.parent) {
    const message = `its file is version ${ring.version} of ${ring.keyspace} after ${ring.parent}`;
    findings.push(finding(version, 'VERSION_OF_ANOTHER_PLACE', message));
  }
  const staged = stagedDigestOf(extraSections);
  if (entry.kind !== 'restore' && staged !== (entry.staged ?? null)) {
    const message = `was made from changes ${staged}, but the log says ${entry.staged ?? null}`;
    findings.push(finding(version, 'STAGED_CONTENT_WRONG', message));
  }
  if (state === null) {
    const message =
      'its file does not contain the builder, so the builder cannot be restored from it';
    findings.push(finding(version, 'VERSION_WITHOUT_BUILDER', message));
  }
  return findings;
}

function transitionFindings(previous: StoredVersion, next: StoredVersion): Finding[] {
  const transition = { previous: previous.ring, previousId: previous.id, next: next.ring };
  return auditTransition(transition).map((one) =>
    finding(next.ring.version, one.code, one.message),
  );
}

function strayFiles(names: readonly string[], versionEntries: readonly LogEntry[]): Finding[] {
  const knownVersions = new Set(versionEntries.map(({ version }) => version));
  return names.flatMap((name): Finding[] => {
    const version = versionOfFileName(name);
    if (version !== null && knownVersions.has(version)) return [];
    // The next writer removes it (remove-leftovers.ts).
    const leftover = version !== null && version > (versionEntries.at(-1)?.version ?? 0);
    const problem = leftover
      ? 'is left over from an interrupted commit'
      : 'is not a version in the log';
    return [
      { code: 'FILE_STRAY', message: `versions/${name} ${problem}`, details: { name, leftover } },
    ];
  });
}

function finding(version: number, code: string, sentence: string): Finding {
  return { code, message: `version ${version}: ${sentence}`, details: { version } };
}
