// ring-builder archive-data: writes the records of a ring, or of one partition, to a file.
import type { KeyObject } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { must } from '@ringwright/base/assert';
import { CodedError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import { archiveProgressBytes } from '@ringwright/base/limits-commands';
import { parseStamp } from '@ringwright/base/stamp';
import type { Client } from '@ringwright/client/client';
import { makeDirectory, replaceDurably } from '@ringwright/node/durable-files';
import { exists } from '@ringwright/node/missing-file';
import { readVersion } from '@ringwright/repository/folder/read-version';
import { withRingLock } from '@ringwright/repository/folder/ring-lock';
import { isRetired } from '@ringwright/ring/reshape-ring';
import type { Ring } from '@ringwright/ring/ring';
import { type Command, type Context, textOption } from '../../cli/command.ts';
import { printBytes } from '../../cli/print-bytes.ts';
import { type ArchiveManifest, newManifest } from '../../records/archive-manifest.ts';
import {
  type ArchiveProgress,
  isVerified,
  progressPath,
  readProgress,
  saveProgress,
} from '../../records/archive-progress.ts';
import { connectRing } from '../../records/connect-ring.ts';
import { manifestPath, RecordFileWriter } from '../../records/record-file.ts';
import { ringKey, trustOf } from '../../versions/signing.ts';
import { authorOf } from '../../versions/stage-command.ts';

export const command: Command = {
  options: {
    to: textOption('a new folder for the archive', { demandOption: true }),
    partition: textOption('only this partition (default: all)'),
  },
  about:
    'The archive has every record that was acknowledged before it began, read at quorum, ' +
    'and some of those written meanwhile. Servers keep serving, also during moves and splits. ' +
    'A signed manifest has the SHA-256 of the file. Deletions are not in the archive. ' +
    'Repeat the command after an interruption: it continues where it stopped.',
  examples: [
    ['$0 archive-data cities --to /backup/cities-monday', 'all records'],
    ['$0 archive-data cities --partition 17 --to /backup/cities-17', 'those of one partition'],
  ],
  run: async (args, context) => {
    const [name, folder] = [args.text('ring'), resolve(args.text('to'))];
    const stored = await readVersion(context.rings, name, 'head');
    const { ring } = stored;
    const partition = args.optionalNumber('partition') ?? null;
    if (partition !== null) requirePartition(ring, partition);
    if (await exists(manifestPath(folder))) throw isThere(folder);
    const key = await ringKey(context);
    await using client = await connectRing(stored);
    await makeDirectory(folder);
    // An earlier run may still be writing there: two would mix their records.
    const manifest = await withRingLock({ ring: folder, path: folder }, authorOf(context), () =>
      archiveInto(folder, context, { ring, partition, client, key }),
    );
    const { records, bytes } = manifest;
    const what = partition === null ? name : `partition ${partition} of ${name}`;
    return {
      json: { ...manifest, folder },
      lines: [`${what}: ${counted(records, 'record')} in ${folder}, ${printBytes(bytes)}`],
      next: context.next(`restore-data ${name} --from ${folder}`),
    };
  },
};

interface ToArchive {
  readonly ring: Ring;
  /** Null: all partitions. */
  readonly partition: number | null;
  readonly client: Client;
  /** The key that signs the archive; undefined where rings are not signed. */
  readonly key: KeyObject | undefined;
}

/** Starts the archive, or continues it. The caller holds the lock of the folder. */
async function archiveInto(
  folder: string,
  context: Context,
  { ring: { keyspace: name, version }, partition, client, key }: ToArchive,
): Promise<ArchiveManifest> {
  if (await exists(manifestPath(folder))) throw isThere(folder);
  const part = await readProgress(folder, { ring: name, partition });
  const trust = key === undefined ? null : await trustOf(context);
  const left = part !== null && isVerified(part, trust?.keys.ring ?? null) ? part : null;
  if (part !== null) context.tell(`${folder}: ${continuation(left)}`);
  const start = { ring: name, partition, begunMs: left?.begunMs ?? context.nowMs() };
  await using file = await RecordFileWriter.begin(folder, left);
  const scan = client.scan({
    cursor: left?.cursor ?? null,
    ...(partition !== null && { partition }),
  });
  await writeAll(folder, { file, scan, begun: start, signingKey: key }).catch((error: unknown) => {
    throw cutShort(error, name);
  });
  const sha256 = await file.end();
  const { records, bytes } = file;
  const result = { version, endedMs: context.nowMs(), records, bytes, sha256 };
  const manifest = newManifest({ ...start, ...result }, key);
  await replaceDurably(manifestPath(folder), `${JSON.stringify(manifest, null, 2)}\n`);
  await rm(progressPath(folder), { force: true });
  return manifest;
}

/**
 * Writes all records. At intervals it makes the file durable and saves the cursor to continue from.
 */
async function writeAll(
  folder: string,
  {
    file,
    scan,
    begun: start,
    signingKey,
  }: {
    readonly file: RecordFileWriter;
    readonly scan: ReturnType<Client['scan']>;
    readonly begun: Pick<ArchiveProgress, 'ring' | 'partition' | 'begunMs'>;
    readonly signingKey: KeyObject | undefined;
  },
): Promise<void> {
  let savedBytes = file.bytes;
  for await (const { key, value, stamp, expiresMs } of scan) {
    const { ms = 0, tie = 0 } = parseStamp(stamp) ?? {};
    const isWritten = await file.add({ key, value, ms, tie, expiresMs: expiresMs ?? 0 });
    const { records, bytes } = file;
    if (!isWritten || bytes - savedBytes < archiveProgressBytes) continue;
    await file.sync();
    const cursor = must(scan.cursor, 'a record was given');
    const progress = { ...start, cursor, records, bytes, sha256: file.sha256 };
    await saveProgress(folder, progress, signingKey);
    savedBytes = bytes;
    // failpoint: archive.part-saved
  }
}

function continuation(left: ArchiveProgress | null): string {
  if (left === null) return 'starts again, because its part cannot be verified';
  return `continues after ${counted(left.records, 'record')}`;
}

/** Replaces the hint of the server, which is meant for HTTP clients. */
function cutShort(error: unknown, ring: string): unknown {
  if (!(error instanceof CodedError) || error.code !== 'NOT_ENOUGH_REPLICAS') return error;
  const { code, message, details } = error;
  return new CodedError(code, `the archive is incomplete: ${message}`, {
    hint: `ring-builder servers ${ring} shows which servers are down; repeating this command continues from here`,
    details,
    cause: error,
  });
}

function requirePartition(ring: Ring, partition: number): void {
  if (partition < ring.partitions && !isRetired(ring)(partition)) return;
  const message = `${ring.keyspace} has no partition ${partition}`;
  throw new CodedError('VALUE_OUT_OF_RANGE', message, {
    hint: `ring-builder table ${ring.keyspace} lists them`,
    details: { partition, partitions: ring.partitions },
  });
}

function isThere(folder: string): CodedError {
  return new CodedError('USAGE', `${folder} is already an archive`, {
    hint: 'name a new folder: an archive is never overwritten',
    details: { folder },
  });
}
