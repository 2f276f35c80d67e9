// ring-builder archive-data: the records of a ring, or of one of its partitions, as a file.
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import { parseStamp } from '@ringwright/base/stamp';
import { makeDirectory, replaceDurably } from '@ringwright/node/durable-files';
import { readVersion } from '@ringwright/repository/folder/read-version';
import { isRetired } from '@ringwright/ring/reshape-ring';
import type { Ring } from '@ringwright/ring/ring';
import { optionalNumber, text } from '../../cli/arguments.ts';
import { textOption } from '../../cli/option-forms.ts';
import { printBytes } from '../../cli/print-bytes.ts';
import type { Verb } from '../../cli/verb.ts';
import { connectRing } from '../../records/connect-ring.ts';
import { type ArchiveManifest, manifestPath, RecordFileWriter } from '../../records/record-file.ts';

export const verb: Verb = {
  options: {
    to: textOption('a new folder for the archive', { demandOption: true }),
    partition: textOption('this partition alone (default: all)'),
  },
  about:
    'Every record that was acknowledged before it began is in it, read at quorum; of what is ' +
    'written meanwhile some may be. Servers go on as usual, also with moves, splits and merges. ' +
    'The file has a manifest with its SHA-256. Deletions are not in it.',
  examples: [
    ['$0 archive-data cities --to /backup/cities-monday', 'all records'],
    ['$0 archive-data cities --partition 17 --to /backup/cities-17', 'those of one partition'],
  ],
  run: async (args, context) => {
    const [name, folder] = [text(args, 'ring'), resolve(text(args, 'to'))];
    const stored = await readVersion(context.rings, name, 'head');
    const { ring } = stored;
    const partition = optionalNumber(args, 'partition') ?? null;
    if (partition !== null) requirePartition(ring, partition);
    if (await stat(manifestPath(folder)).catch(() => null)) throw isThere(folder);
    await using client = await connectRing(stored);
    await makeDirectory(folder);
    const begunMs = context.nowMs();
    const file = await RecordFileWriter.begin(folder);
    const only = partition === null ? {} : { partition };
    for await (const { key, value, stamp, expiresMs } of client.scan(only)) {
      const { ms = 0, tie = 0 } = parseStamp(stamp) ?? {};
      await file.add({ key, value, ms, tie, expiresMs: expiresMs ?? 0 });
    }
    const sha256 = await file.end();
    const { records, bytes } = file;
    const times = { begunMs, endedMs: context.nowMs() };
    const about = { ring: name, version: ring.version, partition, ...times };
    const manifest: ArchiveManifest = { format: 1, ...about, records, bytes, sha256 };
    await replaceDurably(manifestPath(folder), `${JSON.stringify(manifest, null, 2)}\n`);
    const what = partition === null ? name : `partition ${partition} of ${name}`;
    return {
      json: { ...manifest, folder },
      lines: [`${what}: ${counted(records, 'record')} in ${folder}, ${printBytes(bytes)}`],
      next: context.next(`restore-data ${name} --from ${folder}`),
    };
  },
};

function requirePartition(ring: Ring, partition: number): void {
  if (partition < ring.partitions && !isRetired(ring)(partition)) return;
  const message = `${ring.keyspace} has no partition ${partition}`;
  throw new CodedError('VALUE_OUT_OF_RANGE', message, {
    hint: `ring-builder table ${ring.keyspace} lists them`,
    details: { partition, partitions: ring.partitions },
  });
}

function isThere(folder: string): CodedError {
  return new CodedError('USAGE', `${folder} is an archive already`, {
    hint: 'name a new folder: an archive is never written over',
    details: { folder },
  });
}
