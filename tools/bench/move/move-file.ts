// bench:move, one large partition file from device to device, beside cp and rsync on the same disk.
import fs from 'node:fs/promises';
import path from 'node:path';
import { must } from '@ringwright/base/assert';
import { type Aim, type Comparison, comparison, withoutPeer } from '../measure/comparison.ts';
import { outputOf, versionOf } from '../measure/finished-program.ts';
import { median } from '../measure/median.ts';
import { startCluster } from '../peers/ring-cluster.ts';
import type { MoveSection } from './move-section.ts';
import { fillRecords, join } from './moved-cluster.ts';

const section = 'file';
/** Few and large records, so that the copying of bytes is measured. */
const valueBytes = 65_536;

interface Rates {
  readonly ours: number[];
  readonly cp: number[];
  readonly rsync: number[];
}

export async function fileSection(settings: MoveSection): Promise<Comparison[]> {
  const { folder, tell } = settings;
  const { mib, rounds } = settings.sizes;
  const hasRsync = (await versionOf('rsync')) !== null;
  await using cluster = await startCluster(settings, { servers: 1, partitions: 1 });
  const rates: Rates = { ours: [], cp: [], rsync: [] };
  tell(`${mib} MiB are written`);
  await fillRecords(cluster.addresses, { mib, valueBytes });
  for (let round = 1; round <= rounds; round += 1) {
    tell(`round ${round}`);
    const source = must(cluster.servers.at(-1), 'there is a server');
    const { bytes, copySeconds } = await join(cluster, source);
    rates.ours.push(bytes / 1e6 / copySeconds);
    // The joiner's file has the length of its source.
    const file = await largestFile(must(cluster.servers.at(-1), 'it joined').data);
    const copy = path.join(folder, 'copy');
    rates.cp.push(await rateOf(file, copy, ['cp']));
    if (hasRsync) rates.rsync.push(await rateOf(file, copy, ['rsync', '--whole-file']));
  }
  return rowsOf(rates, mib);
}

function rowsOf({ ours, cp, rsync }: Rates, mib: number): Comparison[] {
  const row = (name: string, rates: readonly number[], aim: Aim | null): Comparison => {
    const what = `a partition of ${mib} MiB, verified`;
    const fields = { section, what, unit: 'MB/s', figure: median(ours), aim };
    if (rates.length === 0) return withoutPeer(fields, name);
    return comparison({ ...fields, beside: { name: `${name} + fsync`, figure: median(rates) } });
  };
  return [row('cp', cp, { atLeast: 0.7 }), row('rsync', rsync, null)];
}

/** Returns the MB/s of a copying program, including the sync of its result to disk. */
async function rateOf(from: string, to: string, program: readonly string[]): Promise<number> {
  const { size } = await fs.stat(from);
  const started = performance.now();
  await outputOf('sh', ['-c', '"$@" && sync "$0"', to, ...program, from, to]);
  const seconds = (performance.now() - started) / 1000;
  await fs.rm(to);
  return size / 1e6 / seconds;
}

async function largestFile(folder: string): Promise<string> {
  const entries = await fs.readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sized = await Promise.all(
    files.map(async ({ parentPath, name }) => {
      const file = path.join(parentPath, name);
      return { file, size: (await fs.stat(file)).size };
    }),
  );
  return must(sized.sort((a, b) => b.size - a.size)[0], `no file in ${folder}`).file;
}
