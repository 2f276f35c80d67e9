// A ring's folder made anew from the file of one version: the builder as it was, a log that begins.
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import { parseState } from '@ringwright/builder/state/state-json';
import { replaceDurably, syncDirectory, temporaryPrefix } from '@ringwright/node/durable-files';
import { exists } from '@ringwright/node/missing-file';
import { auditRing } from '@ringwright/ring/audit/audit-ring';
import { decodeRing } from '@ringwright/ring/file/ring-file';
import type { Ring } from '@ringwright/ring/ring';
import { authenticateRing } from '@ringwright/ring/trust/authenticate-ring';
import { nameOf } from './approval.ts';
import { ringExists } from './create-ring.ts';
import { printBuilderFile } from './folder/builder-file.ts';
import { extendLog } from './folder/read-log.ts';
import { type RingFolder, ringFolder, versionPath } from './folder/ring-folder.ts';
import { type RingsTrust, trustPath, writeTrust } from './folder/trust-file.ts';
import type { Author } from './write-ring.ts';

export interface Restored {
  readonly ring: Ring;
  readonly id: string;
  readonly signed: boolean;
  /** Names of the keys whose signatures were checked; empty without trust. */
  readonly signers: readonly string[];
}

export interface RingToRestore {
  readonly bytes: Uint8Array;
  /** Whose signatures the file must carry; becomes trust.json where none is. */
  readonly trust: RingsTrust | null;
  /** The name the ring must have; undefined: the one it has. */
  readonly name: string | undefined;
  readonly author: Author;
  readonly message: string;
  readonly command: string;
}

/**
 * The folder is there as a whole or not at all. State and version file are bit for bit what they
 * were; the log begins with one entry of kind `restore`, since a ring file does not hold the lines
 * before. With trust, signatures are checked first, as a server would. Throws RING_EXISTS,
 * RING_FILE_INVALID, RING_AUDIT_FAILED, USAGE when the name is another, and what authenticateRing
 * throws.
 */
export async function restoreRing(rings: string, given: RingToRestore): Promise<Restored> {
  const { bytes, trust, author, message, command } = given;
  const signers = trust === null ? [] : signersOf(bytes, trust, author);
  const { ring, id, builder, signing } = decodeRing(bytes);
  requireName(ring, given.name);
  if (builder === null) {
    throw new CodedError('RING_FILE_INVALID', 'the ring file does not carry the builder', {
      hint: 'take a file that ring-builder wrote, from versions/ or from a server',
      details: { ring: ring.keyspace, version: ring.version },
    });
  }
  requireSound(ring);
  const folder = ringFolder(rings, ring.keyspace);
  if (await exists(folder.path)) throw ringExists(ring.keyspace, folder.path);
  const temporary = join(rings, `${temporaryPrefix}${process.pid}-${ring.keyspace}`);
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
  const end = log.hashes.at(-1) ?? null;
  const file = printBuilderFile({ head, log: end, state: parseState(builder), staged: [] });
  await mkdir(rings, { recursive: true });
  if (trust !== null && !(await exists(trustPath(rings)))) await writeTrust(rings, trust.documents);
  await writeWhole(rings, { folder, temporary }, { bytes, log: log.text, file, ring });
  return { ring, id, signed: signing !== null, signers };
}

function signersOf(bytes: Uint8Array, { trust }: RingsTrust, { time }: Author): string[] {
  const { signers } = authenticateRing(bytes, [trust], Date.parse(time));
  return signers.map((id) => nameOf(trust, id));
}

function requireName({ keyspace }: Ring, wanted: string | undefined): void {
  if (wanted === undefined || wanted === keyspace) return;
  throw new CodedError('USAGE', `the file holds ring ${keyspace}, not ${wanted}`, {
    hint: `ring-builder restore ${keyspace} --from …`,
    details: { found: keyspace, wanted },
  });
}

function requireSound(ring: Ring): void {
  const findings = auditRing(ring);
  const [first] = findings;
  if (first === undefined) return;
  throw new CodedError('RING_AUDIT_FAILED', `${findings.length} findings: ${first.message}`, {
    hint: 'nothing was restored; take the file of another version or server',
    details: { findings },
  });
}

async function writeWhole(
  rings: string,
  { folder, temporary }: { readonly folder: RingFolder; readonly temporary: string },
  content: {
    readonly bytes: Uint8Array;
    readonly log: string;
    readonly file: string;
    readonly ring: Ring;
  },
): Promise<void> {
  const at: RingFolder = {
    ring: folder.ring,
    path: temporary,
    builder: join(temporary, 'builder.json'),
    log: join(temporary, 'log.jsonl'),
    versions: join(temporary, 'versions'),
    receipts: join(temporary, 'receipts'),
  };
  await mkdir(at.versions, { recursive: true });
  try {
    await replaceDurably(versionPath(at, content.ring.version), content.bytes);
    await replaceDurably(at.log, content.log);
    await replaceDurably(at.builder, content.file);
    await rename(temporary, folder.path);
    await syncDirectory(rings);
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    if (await exists(folder.builder)) throw ringExists(folder.ring, folder.path);
    throw error;
  }
}
