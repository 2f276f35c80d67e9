// Adds a version by compare-and-swap on the head. The log line is the commit; all else follows it.
//
// Steps, and the state after a crash right behind each:
//   written   the version's file is in versions/: old head; the next writer removes the file
//   stored, swapped    only if the head is shared: publish-head.ts
//   logged    the log names the version: new head; builder.json is behind. Readers complete it in
//             memory and the next writer on disk, from the builder section of the version's file
//   recorded  builder.json is up to date: new head; the lock is left, and its owner is known to be
//             dead
// A crash inside a step also leaves a .tmp- file, which the next writer removes.

import { mkdir } from 'node:fs/promises';
import { assert } from '@ringwright/base/assert';
import { CodedError } from '@ringwright/base/coded-error';
import type { LaterWaves } from '@ringwright/builder/plan/plan';
import type { Staged } from '@ringwright/builder/state/change';
import { requireSteadyPower } from '@ringwright/builder/state/steady-power';
import { addDurably, replaceDurably, syncDirectory } from '@ringwright/node/durable-files';
import type { VersionId } from '@ringwright/ring/audit/ring-candidate';
import type { Ring } from '@ringwright/ring/ring';
import type { OpenedReceipt } from '@ringwright/ring/trust/move-receipt';
import type { Trust } from '@ringwright/ring/trust/trust-root';
import { appendLog } from './append-log.ts';
import { encodeVersion, type VersionContent } from './encode-version.ts';
import { printBuilderFile, stagedChanges, stagedDigest } from './folder/builder-file.ts';
import { keptLaterSections, laterSections } from './folder/later-section.ts';
import type { LogEntry } from './folder/log-entry.ts';
import { headMoved } from './folder/read-log.ts';
import { readVersionFile, requireLogged, type StoredVersion } from './folder/read-version.ts';
import { type RingFolder, receiptsPath, versionPath } from './folder/ring-folder.ts';
import { stagedDigestOf, stagedSections } from './folder/staged-section.ts';
import { readTrust } from './folder/trust-file.ts';
import { judgeVersion } from './judge-version.ts';
import { requireSignedHead, requireState } from './require-signed-head.ts';
import { judgeProof, proofDetails, receiptsText } from './shared/move-proof.ts';
import type { PublishStep } from './shared/publish-head.ts';
import { type WritableRing, writeRing } from './write-ring.ts';

type CommitStep = 'written' | PublishStep | 'logged' | 'recorded';

export interface VersionToCommit extends VersionContent {
  readonly entry: Pick<LogEntry, 'time' | 'user' | 'message' | 'moves' | 'figures' | 'details'> & {
    /** A commit consumes the staged changes; an advance leaves them. */
    readonly kind: 'commit' | 'advance';
  };
  /** The commands that made it instead of staged ones: `revert`. Then nothing may be staged. */
  readonly commands?: readonly string[];
  readonly expected: {
    readonly head: VersionId | null;
    /** OpenedRing.stagedDigest at the time of planning; needed only by a commit. */
    readonly stagedDigest?: string;
  };
  /** Moves of later waves. Absent: an advance keeps the present ones, a commit has none. */
  readonly later?: LaterWaves;
  /** Receipts of the moves that the version finalizes; required if it finalizes any. */
  readonly receipts?: readonly OpenedReceipt[];
  /**
   * Absent: the folder's own trust. A ring made in a temporary folder names that of its final one.
   */
  readonly trust?: Trust;
  /** Reason to pass the change guard. It is logged, and in the manifest of a signed version. */
  readonly override?: string | null;
  /** Called after each step, for progress and for tests that stop there. */
  readonly afterStep?: (step: CommitStep) => void;
}

/**
 * Makes `ring` the head and returns its id. Durable when it returns. Throws HEAD_MOVED with both
 * heads, STAGED_MOVED, PART_POWER_INCREASING, LOCK_HELD, BRAKE, TRUST_UNKNOWN, RECEIPTS_MISSING,
 * VALUE_OUT_OF_RANGE, what encodeVersion throws, and BUILDER_FILE_INVALID, RING_FILE_INVALID or
 * SIGNATURES_MISSING if the folder's head is not what was signed. The head is then unchanged.
 */
export async function commitVersion(rings: string, toCommit: VersionToCommit): Promise<VersionId> {
  const { ring, state, entry, expected } = toCommit;
  const location = { rings, ring: ring.keyspace };
  return writeRing(location, entry, async (writable) => {
    const { folder, file, log } = writable;
    if (expected.head?.id !== file.head?.id) {
      throw headMoved(ring.keyspace, expected.head, file.head);
    }
    if (entry.kind === 'commit') requireStaged(ring.keyspace, file.staged, expected.stagedDigest);
    // Not for a first version, which may be an import, nor for an advance: moves in flight may end.
    if (file.head !== null && entry.kind === 'commit') requireSteadyPower(file.state);
    assert(ring.version === (file.head?.version ?? 0) + 1, `version ${ring.version} is not next`);
    assert(ring.parent === (file.head?.id ?? null), `parent ${ring.parent} is not the head`);
    const trusted = await readTrust(rings);
    const trust = toCommit.trust ?? trusted?.trust ?? null;
    const { later, override = null } = toCommit;
    const toJudge = { ring, state, entry, later, override };
    const previous = await readHead(writable);
    if (previous !== null) {
      requireState(folder, previous, file.state);
      const { key } = toCommit;
      if (trusted !== null) await requireSignedHead(folder, previous, { ...trusted, key });
    }
    const judgedFrom = { entries: log.entries, state: file.state, head: previous?.ring ?? null };
    if (trust === null && previous !== null) requireUnsigned(rings, previous);
    const verdict = judgeVersion(judgedFrom, toJudge, trust);
    const logHead = log.hashes.at(-1) ?? null;
    const isCommit = entry.kind === 'commit';
    const keptSections = isCommit ? [] : keptLaterSections(previous?.extraSections ?? []);
    const extraSections = [
      ...stagedSections(isCommit ? stagedChanges(file.staged) : []),
      ...(later === undefined ? keptSections : laterSections(later)),
    ];
    const staged = stagedDigestOf(extraSections);
    const { bytes, id, details } = encodeVersion(toCommit, verdict, {
      trust,
      logHead,
      extraSections,
    });
    const proved = await writeProof(folder, toCommit, judgedFrom.head);
    await writeVersionFile(folder, ring.version, bytes);
    toCommit.afterStep?.('written');

    const logEntry = {
      ...entry,
      details: { ...entry.details, ...details, ...proved },
      version: ring.version,
      id,
      parent: ring.parent,
      commands: [
        ...(toCommit.commands ?? (isCommit ? file.staged.map(({ command }) => command) : [])),
      ],
      ...(staged === null ? {} : { staged }),
    };
    const changed = [ring.version];
    const extended = await appendLog(writable, logEntry, {
      changed,
      afterStep: toCommit.afterStep,
    });
    toCommit.afterStep?.('logged');

    const head = { version: ring.version, id };
    const lastHash = extended.hashes.at(-1) ?? null;
    const next = { head, log: lastHash, state, staged: isCommit ? [] : file.staged };
    await replaceDurably(folder.builder, printBuilderFile(next));
    toCommit.afterStep?.('recorded');
    return head;
  });
}

async function readHead({ folder, file }: WritableRing): Promise<StoredVersion | null> {
  const { head } = file;
  if (head === null) return null;
  const stored = await readVersionFile(folder, head.version);
  requireLogged(stored, head, { ring: folder.ring, path: versionPath(folder, head.version) });
  return stored;
}

/** Writes the receipts before the version, so that a head never lacks its receipts. */
async function writeProof(
  folder: RingFolder,
  { ring, receipts = [] }: VersionToCommit,
  previous: Ring | null,
): Promise<object> {
  if (previous === null) return {};
  const proof = judgeProof(
    { previous, next: ring },
    receipts.map(({ receipt }) => receipt),
  );
  const [fault] = proof.findings;
  if (fault !== undefined) {
    throw new CodedError('RECEIPTS_MISSING', fault.message, {
      hint: `ring-builder moves ${ring.keyspace} list shows what its joiner reports`,
    });
  }
  if (receipts.length === 0) return {};
  const created = await mkdir(folder.receipts, { recursive: true });
  if (created !== undefined) await syncDirectory(folder.path);
  await replaceDurably(receiptsPath(folder, ring.version), receiptsText(receipts));
  return proofDetails(receipts);
}

/** Links the file into place, which fails if it exists: if two writers ever get here, one stops. */
async function writeVersionFile(
  folder: RingFolder,
  version: number,
  bytes: Uint8Array,
): Promise<void> {
  const created = await mkdir(folder.versions, { recursive: true });
  if (created !== undefined) await syncDirectory(folder.path);
  if (await addDurably(versionPath(folder, version), bytes)) return;
  throw new CodedError('HEAD_MOVED', `version ${version} of ${folder.ring} was just written`, {
    hint: `ring-builder status ${folder.ring}`,
    details: { ring: folder.ring, version },
  });
}

/** Servers that trust a root accept no unsigned version, and the history would show the gap. */
function requireUnsigned(rings: string, { ring, signing }: StoredVersion): void {
  if (signing === null) return;
  const { keyspace, version } = ring;
  const message = `version ${version} of ${keyspace} is signed, but ${rings} has no trust.json`;
  throw new CodedError('TRUST_UNKNOWN', message, {
    hint:
      'restore it from git, a copy, or the file that servers are started with (--trust); ' +
      'ring-builder key generate creates a new root, which every server must then be started with',
    details: { keyspace, version },
  });
}

function requireStaged(
  ring: string,
  staged: readonly Staged[],
  expected: string | undefined,
): void {
  const found = stagedDigest(staged);
  if (found === expected) return;
  throw new CodedError(
    'STAGED_MOVED',
    `${ring} has other staged changes (${found}) than the plan (${expected})`,
    {
      hint: `ring-builder plan ${ring} shows what a commit would do now`,
      details: { ring, expected: expected ?? null, found },
    },
  );
}
