// The audit of a ring's folder: log, versions and builder.json, each alone and together.
import { readdir } from 'node:fs/promises';
import { CodedError } from '@ringwright/base/coded-error';
import type { Finding } from '@ringwright/base/finding';
import { applyChanges } from '@ringwright/builder/state/apply-changes';
import { serializeState } from '@ringwright/builder/state/state-json';
import { onlyMissing } from '@ringwright/node/missing-file';
import { readRegularText } from '@ringwright/node/read-regular-file';
import { approvalOf } from '../approval.ts';
import {
  type BuilderFile,
  isDigested,
  parseBuilderFile,
  stagedChanges,
} from '../folder/builder-file.ts';
import { makesVersion } from '../folder/log-entry.ts';
import { headOf } from '../folder/read-log.ts';
import type { StoredVersion } from '../folder/read-version.ts';
import { requireRing } from '../folder/require-ring.ts';
import { type RingFolder } from '../folder/ring-folder.ts';
import { readStoreFile } from '../shared/store-file.ts';
import { type VerifiedLog, verifyLog } from './verify-log.ts';
import { type ReceiptTotals, receiptChecks, strayReceipts } from './verify-receipts.ts';
import { signatureChecks, verifyTrust } from './verify-signatures.ts';
import { verifyVersions } from './verify-versions.ts';

export interface Verification {
  readonly ring: string;
  /** True when the folder has a root of trust. */
  readonly signed: boolean;
  /** Signatures the head lacks before it may be pushed: no fault, but somebody must act. */
  readonly waiting: number;
  readonly versions: number;
  /** Of them, those that are in no archive which is here: the log alone tells of them. */
  readonly pruned: number;
  readonly entries: number;
  /** What was proved of the moves that versions finalized. */
  readonly receipts: ReceiptTotals;
  /** False in a builder.json from before there was a digest: the next command that stages writes it. */
  readonly digested: boolean;
  /** Files that nothing vouches for: they come and go, or are this machine's own. */
  readonly outside: readonly string[];
  /** Empty when the history can be trusted. */
  readonly findings: readonly Finding[];
}

/**
 * Checks all there is of a ring, and the trust document of its folder, and changes nothing. `pin`
 * is a root id from elsewhere, without which nobody can tell a folder from one that was wholly made
 * up. Throws NAME_INVALID, RING_UNKNOWN.
 */
export async function verifyRepository(
  rings: string,
  ring: string,
  pin: string | null,
): Promise<Verification> {
  const folder = await requireRing(rings, ring);
  const log = verifyLog((await readRegularText(folder.log).catch(onlyMissing)) ?? '');
  const { trust, findings: trustFindings } = await verifyTrust(rings, pin);
  const shared = (await readStoreFile(rings)) !== null;
  const receipts = receiptChecks(folder, { shared });
  const versions = await verifyVersions(folder, log.entries, {
    signatures: signatureChecks(trust, log),
    receipts: receipts.check,
  });
  const text = await readRegularText(folder.builder);
  const builder = parseBuilderFile(text);
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
    versions: log.entries.filter(makesVersion).length,
    pruned: versions.pruned,
    entries: log.entries.length,
    receipts: receipts.totals,
    digested: typeof builder === 'string' || isDigested(text),
    outside: [...(await passingFiles(folder)), ...(shared ? ['store.json'] : [])],
    findings: [
      ...(await strayFiles(folder)),
      ...(await strayReceipts(folder, log.entries)),
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
  const end = log.hashes.at(-1) ?? null;
  if (file.log !== end && (file.log === null || log.hashes.includes(file.log))) {
    const message = `builder.json follows log line ${file.log}, the last one is ${end}`;
    return [{ code: 'BUILDER_BEHIND', message: `${message}: a command was stopped half-way` }];
  }
  const findings: Finding[] = [];
  const report = (code: string, message: string): void => void findings.push({ code, message });
  if (file.log !== end) {
    const message = `builder.json follows log line ${file.log}, log.jsonl ends in ${end}`;
    report('LOG_END_WRONG', `${message}: a line was edited, added or cut`);
  }
  const head = headOf(log.entries);
  if (head?.id !== file.head?.id || head?.version !== file.head?.version) {
    const [a, b] = [file.head?.version ?? null, head?.version ?? null];
    report('BUILDER_HEAD_WRONG', `builder.json belongs to version ${a}, the log's head is ${b}`);
  }
  const restored = newest !== null && newest.id === head?.id ? newest.state : null;
  if (restored !== null && !sameBytes(serializeState(restored), serializeState(file.state))) {
    const message = `builder.json is not what version ${head?.version} restores`;
    report('BUILDER_STATE_WRONG', message);
  }
  const refusal = refusalOf(file);
  if (refusal !== null) report('STAGED_CHANGE_WRONG', `staged changes do not fit: ${refusal}`);
  return findings;
}

function refusalOf(file: BuilderFile): string | null {
  try {
    applyChanges(file.state, stagedChanges(file.staged));
    return null;
  } catch (error) {
    if (error instanceof CodedError) return error.message;
    throw error;
  }
}

async function strayFiles(folder: RingFolder): Promise<Finding[]> {
  const known = new Set(['builder.json', 'log.jsonl', 'versions', 'receipts']);
  const names = await readdir(folder.path);
  return names
    .filter((name) => !known.has(name) && !isPassing(name))
    .map((name) => ({ code: 'FILE_STRAY', message: `${name} does not belong here` }));
}

/** Locks and temporary files come and go while others work; anything else is somebody's mistake. */
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

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
