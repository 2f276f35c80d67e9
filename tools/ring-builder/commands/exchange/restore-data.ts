// ring-builder restore-data: writes the records of an archive into a ring of any shape.
import { resolve } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import { restoredAtOnce } from '@ringwright/base/limits-commands';
import { mapConcurrent } from '@ringwright/base/map-concurrent';
import { compareStamps, formatStamp, parseStamp } from '@ringwright/base/stamp';
import type { Client } from '@ringwright/client/client';
import { readVersion, type StoredVersion } from '@ringwright/repository/folder/read-version';
import { type Command, type Context, textOption } from '../../cli/command.ts';
import { medianClock } from '../../plan/require-fit-newcomers.ts';
import { type ArchiveManifest, manifestSigners } from '../../records/archive-manifest.ts';
import { connectRing } from '../../records/connect-ring.ts';
import { type ArchivedRecord, framesOf, openArchive } from '../../records/record-file.ts';
import { ringTargets } from '../../servers/ring-targets.ts';
import { fanOut } from '../../servers/server-connection.ts';
import { statusOrWhyNot } from '../../servers/server-status.ts';
import { trustOf } from '../../versions/signing.ts';

type Restored = 'written' | 'kept' | 'expired';

export const command: Command = {
  options: { from: textOption('folder written by archive-data', { demandOption: true }) },
  about:
    'A key gets the record of the archive if it has none, or an older one. ' +
    'Newer records stay, keys deleted since then reappear, and after an interruption you can ' +
    'repeat the command. The file is first compared with its manifest. If rings are signed, ' +
    'an archive that none of their keys signed needs --yes.',
  examples: [
    [
      '$0 restore-data cities --from /backup/cities-monday',
      'restore records that are missing or older',
    ],
    ['$0 restore-data towns --from /backup/cities-monday', 'restore all records into another ring'],
  ],
  run: async (args, context) => {
    const [name, folder] = [args.text('ring'), resolve(args.text('from'))];
    const stored = await readVersion(context.rings, name, 'head');
    const archive = await openArchive(folder);
    await requireSigned(context, { folder, archive });
    await using client = await connectRing(stored);
    const counts: Record<Restored, number> = { written: 0, kept: 0, expired: 0 };
    const aheadMs = await serversAheadMs(context, stored);
    for await (const frame of framesOf(folder, archive)) {
      const outcomes = await mapConcurrent(frame, restoredAtOnce, (record) =>
        restore(client, record, context.nowMs() + aheadMs),
      );
      for (const outcome of outcomes) counts[outcome] += 1;
      // failpoint: restore.frame-written
    }
    const { written, kept, expired } = counts;
    return {
      json: { ring: name, folder, records: archive.records, ...counts, changed: written > 0 },
      lines: [
        `${name}: ${counted(written, 'record')} written, ${kept} kept because they are newer or the same`,
        expired > 0 && `${counted(expired, 'record')} expired since then`,
      ],
      next: context.next(`health ${name}`),
    };
  },
};

/**
 * Returns by how much the clocks of most servers are ahead of the one here, which decides between
 * two servers. Records expire by the servers' clocks: with a wrong one here they would expire too
 * early, or too late.
 */
async function serversAheadMs(
  { nowMs }: Pick<Context, 'nowMs'>,
  { ring, state }: StoredVersion,
): Promise<number> {
  const statuses = await fanOut(ringTargets(ring, state), ({ address }) => statusOrWhyNot(address));
  const answers = statuses.flatMap((status) => (status instanceof CodedError ? [] : [status]));
  const own = { nowMs: nowMs() };
  const serversMs = medianClock(answers.length % 2 === 0 ? [...answers, own] : answers);
  return serversMs === undefined ? 0 : serversMs - own.nowMs;
}

/** Throws CONFIRMATION_NEEDED if rings are signed and the archive is not, unless --yes is set. */
async function requireSigned(
  context: Context,
  { folder, archive }: { readonly folder: string; readonly archive: ArchiveManifest },
): Promise<void> {
  const trust = await trustOf(context);
  if (trust === null || manifestSigners(archive, trust.keys.ring).size > 0) return;
  const message = `${folder} is not signed by any of the ring keys in ${context.rings}`;
  if (context.yes) {
    context.tell(message);
    return;
  }
  throw new CodedError('CONFIRMATION_NEEDED', message, {
    hint: 'anyone with write access there may have changed it; add --yes if you trust it',
    details: { folder, ring: archive.ring },
  });
}

/**
 * Restores one record with conditional writes, which a quorum decides for each key. Concurrent
 * writers lose no newer record.
 */
async function restore(client: Client, record: ArchivedRecord, nowMs: number): Promise<Restored> {
  const { key, value, expiresMs } = record;
  if (expiresMs > 0 && expiresMs <= nowMs) return 'expired';
  const ttl = expiresMs > 0 ? { ttlMs: expiresMs - nowMs } : {};
  for (let condition = 'absent'; ; ) {
    try {
      await client.put(key, value, { if: condition, repeatUnknown: true, ...ttl });
      return 'written';
    } catch (error) {
      if (!(error instanceof CodedError) || error.code !== 'PRECONDITION_FAILED') throw error;
      const held = parseStamp(String(error.details['stamp']));
      if (held !== null && compareStamps(held, record) >= 0) return 'kept';
      condition = held === null ? 'absent' : formatStamp(held);
    }
  }
}
