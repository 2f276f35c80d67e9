// Makes a ring's folder anew from the file of one version, with the old builder state and a new
// log; or from another folder, with its whole history.
import { must } from '@ringwright/base/assert';
import { CodedError } from '@ringwright/base/coded-error';
import { parseState } from '@ringwright/builder/state/state-json';
import { replaceDurably } from '@ringwright/node/durable-files';
import { exists } from '@ringwright/node/missing-file';
import { requireSound } from '@ringwright/ring/audit/audit-ring';
import { decodeRing } from '@ringwright/ring/file/ring-file';
import type { Ring } from '@ringwright/ring/ring';
import { authenticateRing } from '@ringwright/ring/trust/authenticate-ring';
import { nameOf } from './approval.ts';
import { printBuilderFile } from './folder/builder-file.ts';
import { type InstallOptions, installRingFolder } from './folder/install-ring-folder.ts';
import { extendLog, headOf, readEntries, readRingLog } from './folder/read-log.ts';
import { readLoggedVersion } from './folder/read-version.ts';
import { requireRing } from './folder/require-ring.ts';
import { ringFolder, versionPath } from './folder/ring-folder.ts';
import { type RingsTrust, trustPath, writeTrust } from './folder/trust-file.ts';
import { fetchVersions } from './rebase-ring.ts';
import { withTrustLock } from './rotate-trust.ts';
import type { Author } from './write-ring.ts';

export interface Restored {
  readonly ring: Ring;
  readonly id: string;
  readonly signed: boolean;
  /** Names of the keys whose signatures were checked; empty without trust. */
  readonly signers: readonly string[];
  /** The folder of rings that keeps the replaced ring; null if there was none. */
  readonly kept: string | null;
}

interface RingToRestore extends InstallOptions {
  readonly bytes: Uint8Array;
  /** Required signers of the file. Becomes trust.json if there is none. */
  readonly trust: RingsTrust | null;
  /** The name that the ring must have; undefined: any. */
  readonly name: string | undefined;
  readonly message: string;
  readonly command: string;
}

/**
 * Makes the folder as a whole or not at all. State and version file are restored bit for bit. The
 * log begins with one entry of kind `restore`, because a ring file does not contain the earlier
 * lines. With trust, signatures are checked first, as a server would. Throws RING_EXISTS,
 * RING_FILE_INVALID, RING_AUDIT_FAILED, USAGE for another ring name, and what authenticateRing
 * throws.
 */
export async function restoreRing(rings: string, toRestore: RingToRestore): Promise<Restored> {
  const { bytes, trust, author, message, command } = toRestore;
  const signers = trust === null ? [] : signersOf(bytes, trust, author.time);
  const { ring, id, builder, signing } = decodeRing(bytes);
  requireName(ring, toRestore.name);
  if (builder === null) {
    throw new CodedError('RING_FILE_INVALID', 'the ring file does not contain the builder', {
      hint: 'use a file that ring-builder wrote, from versions/ or from a server',
      details: { ring: ring.keyspace, version: ring.version },
    });
  }
  requireSound(ring, 'nothing was restored; use the file of another version or server');
  const log = extendLog(
    { text: '', entries: [], hashes: [] },
    {
      ...author,
      kind: 'restore',
      message,
      version: ring.version,
      id,
      parent: ring.parent,
      commands: [command],
      moves: 0,
      figures: {},
      details: {},
    },
  );
  const head = { version: ring.version, id };
  const lastHash = log.hashes.at(-1) ?? null;
  const file = printBuilderFile({ head, log: lastHash, state: parseState(builder), staged: [] });
  const kept = await installRingFolder(
    ringFolder(rings, ring.keyspace),
    toRestore,
    async (newFolder) => {
      await replaceDurably(versionPath(newFolder, ring.version), bytes);
      await replaceDurably(newFolder.log, log.text);
      await replaceDurably(newFolder.builder, file);
      await keepTrust(rings, trust, author);
    },
  );
  return { ring, id, signed: signing !== null, signers, kept };
}

/** Later commands check the ring by the trust that admitted it. */
async function keepTrust(rings: string, trust: RingsTrust | null, author: Author): Promise<void> {
  if (trust === null || (await exists(trustPath(rings)))) return;
  await withTrustLock(rings, author, async () => {
    if (!(await exists(trustPath(rings)))) await writeTrust(rings, trust.documents);
  });
}

/** Returns the names of keys whose signatures count. Throws what authenticateRing throws. */
function signersOf(bytes: Uint8Array, { trust }: RingsTrust, time: string): string[] {
  const { signers } = authenticateRing(bytes, [trust], Date.parse(time));
  return signers.map((id) => nameOf(trust, id));
}

function requireName({ keyspace }: Ring, name: string | undefined): void {
  if (name === undefined || name === keyspace) return;
  throw new CodedError('USAGE', `the file contains ring ${keyspace}, not ${name}`, {
    hint: `ring-builder restore ${keyspace} --from …`,
    details: { found: keyspace, wanted: name },
  });
}

interface HistoryToCopy extends InstallOptions {
  /** The other folder of rings. */
  readonly from: string;
  /** Required signers of its head. Becomes trust.json if there is none. */
  readonly trust: RingsTrust | null;
}

/**
 * Copies a ring without its staged changes. Throws RING_UNKNOWN, RING_EMPTY, RING_LOG_DAMAGED,
 * RING_FILE_INVALID, and what authenticateRing and installRingFolder throw.
 */
export async function copyRing(
  { rings, ring }: { readonly rings: string; readonly ring: string },
  history: HistoryToCopy,
): Promise<Restored> {
  const { from, trust, author } = history;
  const source = await requireRing(from, ring);
  if (headOf(await readEntries(source)) === null) throw nothingThere(from, ring);
  // Read once, because another command may move the head there meanwhile.
  const log = await readRingLog(source);
  const head = await readLoggedVersion(source, log.entries, 'head');
  const signers = trust === null ? [] : signersOf(head.bytes, trust, author.time);
  const kept = await installRingFolder(ringFolder(rings, ring), history, async (newFolder) => {
    await fetchVersions(source, newFolder, { log, since: 0 });
    await replaceDurably(newFolder.log, log.text);
    const headVersion = { version: head.ring.version, id: head.id };
    const state = must(head.state, 'every committed version carries its builder');
    const file = { head: headVersion, log: log.hashes.at(-1) ?? null, state, staged: [] };
    await replaceDurably(newFolder.builder, printBuilderFile(file));
    await keepTrust(rings, trust, author);
  });
  return { ring: head.ring, id: head.id, signed: head.signing !== null, signers, kept };
}

function nothingThere(from: string, ring: string): CodedError {
  const message = `ring ${ring} of ${from} has no committed version: there is nothing to restore`;
  return new CodedError('RING_EMPTY', message, {
    hint: 'use --from with another folder of rings, a ring file, or a server (IP:PORT)',
    details: { ring, from },
  });
}
