// Audits a ring's folder: log, versions and builder.json, each alone and together.
import { readdir } from 'node:fs/promises';
import { CodedError, resultOrErrorOf } from '@ringwright/base/coded-error';
import type { Finding } from '@ringwright/base/finding';
import { sameState } from '@ringwright/builder/state/state-json';
import { approvalOf } from '../approval.ts';
import {
  type BuilderFile,
  isDigested,
  parseBuilderFile,
  stagedState,
} from '../folder/builder-file.ts';
import { makesVersion } from '../folder/log-entry.ts';
import { headOf } from '../folder/read-log.ts';
import type { StoredVersion } from '../folder/read-version.ts';
import { requireFolderOf, requireRing } from '../folder/require-ring.ts';
import { type RingFolder } from '../folder/ring-folder.ts';
import { readStoreFile } from '../shared/store-file.ts';
import { readAtRest } from './read-at-rest.ts';
import { type VerifiedLog, verifyLog } from './verify-log.ts';
import { type ReceiptTotals, receiptChecks, strayReceipts } from './verify-receipts.ts';
import { signatureChecks, verifyTrust } from './verify-signatures.ts';
import { verifyVersions } from './verify-versions.ts';

export interface Verification {
  readonly ring: string;
  /** Whether the folder has a root of trust. */
  readonly signed: boolean;
  /** Signatures that the head lacks before it may be pushed: no fault, but somebody must sign. */
  readonly waiting: number;
  /** The same of access.json, before servers get it; null if there is none that can be read. */
  readonly accessMissing: number | null;
  readonly versions: number;
  /** Pruned versions without an archive here. Only the log tells of them. */
  readonly pruned: number;
  readonly entries: number;
  /** Totals of the receipts for finalized moves. */
  readonly receipts: ReceiptTotals;
  /** False for a builder.json of an older release; the next command that writes adds a digest. */
  readonly digested: boolean;
  /** Files outside the audit: they are temporary, or belong to this machine. */
  readonly outside: readonly string[];
  /** Empty if the history can be trusted. */
  readonly findings: readonly Finding[];
}

/**
 * Checks everything of a ring, and the trust and access documents of its folder. Changes nothing.
 * `pin`: a root id from elsewhere. Without it a folder cannot be told from one that is entirely
 * made up. Throws NAME_INVALID, RING_UNKNOWN, RING_FOREIGN.
 */
export async function verifyRepository(
  rings: string,
  ring: string,
  pin: string | null,
): Promise<Verification> {
  const folder = await requireRing(rings, ring);
  const present = await readAtRest(folder);
  const log = verifyLog(present.log);
  const { trust, accessMissing, findings: trustFindings } = await verifyTrust(rings, pin);
  const shared = (await readStoreFile(rings)) !== null;
  const receipts = receiptChecks(folder, { shared });
  const versions = await verifyVersions(folder, log.entries, {
    names: present.versions,
    signatures: signatureChecks(trust, log),
    receipts: receipts.check,
  });
  const text = present.builder;
  const builder = parseBuilderFile(text);
  if (typeof builder !== 'string') requireFolderOf(folder, builder.state.ring);
  const builderFindings =
    typeof builder === 'string'
      ? [{ code: 'BUILDER_FILE_INVALID', message: `builder.json ${builder}` }]
      : verifyBuilder(builder, log, versions.head);
  const head = versions.head;
  const approval = head === null ? null : approvalOf(head, trust?.trust ?? null);
  return {
    ring,
    signed: trust !== null,
    waiting: approval?.missing ?? 0,
    accessMissing,
    versions: log.entries.filter(makesVersion).length,
    pruned: versions.pruned,
    entries: log.entries.length,
    receipts: receipts.totals,
    digested: typeof builder === 'string' || isDigested(text),
    outside: [...(await passingFiles(folder)), ...(shared ? ['store.json'] : [])],
    findings: [
      ...(await strayFiles(folder)),
      ...strayReceipts(present.receipts, log.entries),
      ...trustFindings,
      ...log.findings,
      ...versions.findings,
      ...builderFindings,
    ],
  };
}

function verifyBuilder(
  file: BuilderFile,
  log: VerifiedLog,
  newest: StoredVersion | null,
): Finding[] {
  const lastHash = log.hashes.at(-1) ?? null;
  if (file.log !== lastHash && (file.log === null || log.hashes.includes(file.log))) {
    const message = `builder.json follows log line ${file.log}, but the last one is ${lastHash}`;
    return [{ code: 'BUILDER_BEHIND', message: `${message}: a command was interrupted` }];
  }
  const findings: Finding[] = [];
  const report = (code: string, message: string): void => void findings.push({ code, message });
  if (file.log !== lastHash) {
    const message = `builder.json follows log line ${file.log}, but log.jsonl ends in ${lastHash}`;
    report('LOG_END_WRONG', `${message}: a line was edited, added or cut`);
  }
  const head = headOf(log.entries);
  if (head?.id !== file.head?.id || head?.version !== file.head?.version) {
    const [a, b] = [file.head?.version ?? null, head?.version ?? null];
    report('BUILDER_HEAD_WRONG', `builder.json belongs to version ${a}, the log's head is ${b}`);
  }
  const restored = newest !== null && newest.id === head?.id ? newest.state : null;
  if (restored !== null && !sameState(restored, file.state)) {
    const message = `builder.json differs from what version ${head?.version} restores`;
    report('BUILDER_STATE_WRONG', message);
  }
  const staged = resultOrErrorOf(() => stagedState(file));
  if (staged instanceof CodedError) {
    report('STAGED_CHANGE_WRONG', `staged changes do not fit: ${staged.message}`);
  }
  return findings;
}

async function strayFiles(folder: RingFolder): Promise<Finding[]> {
  const known = new Set(['builder.json', 'log.jsonl', 'versions', 'receipts']);
  const names = await readdir(folder.path);
  return names
    .filter((name) => !known.has(name) && !isPassing(name))
    .map((name) => ({ code: 'FILE_STRAY', message: `${name} does not belong here` }));
}

/**
 * Returns locks and temporary files, which come and go while others work. Any other stray file is a
 * mistake.
 */
async function passingFiles(folder: RingFolder): Promise<string[]> {
  const names = await readdir(folder.path);
  return names
    .filter(isPassing)
    .toSorted()
    .map((name) => `${folder.ring}/${name}`);
}

function isPassing(name: string): boolean {
  return /^\.(tmp|lock)-/.test(name);
}
