// bench:store, many small records on one device: compares the last tenth with the first.
import { must } from '@ringwright/base/assert';
import { keyBytes } from '../load/key-of.ts';
import { type Load, runLoad } from '../load/load-run.ts';
import { type Comparison, comparison } from '../measure/comparison.ts';
import { folderBytes } from '../measure/folder-bytes.ts';
import { residentMb } from '../measure/process-cost.ts';
import { startCluster } from '../peers/ring-cluster.ts';
import type { StoreSection } from './store-section.ts';

const partitions = 64;
const inFlight = 128;
const valueBytes = 100;

interface Stage {
  readonly putsPerSecond: number;
  readonly getsPerSecond: number;
  readonly residentMb: number;
}

export async function recordsSection(settings: StoreSection): Promise<Comparison[]> {
  const { seconds, records } = settings.sizes;
  const tenth = Math.ceil(records / 10);
  await using cluster = await startCluster(settings, { servers: 1, partitions });
  const server = must(cluster.servers[0], 'one server was started');
  const load: Load = {
    ...{ kind: 'client', addresses: cluster.addresses, op: 'fill', seconds, inFlight },
    ...{ keys: tenth, valueBytes, seed: 1 },
  };
  const stage = async (from: number, keys: number): Promise<Stage> => {
    settings.tell(`records ${from} to ${keys}`);
    const puts = await runLoad({ ...load, from, keys });
    const gets = await runLoad({ ...load, op: 'get', keys });
    const memory = await residentMb(server.program.pid);
    return { putsPerSecond: puts.perSecond, getsPerSecond: gets.perSecond, residentMb: memory };
  };
  const first = await stage(0, tenth);
  await runLoad({ ...load, from: tenth, keys: records - tenth });
  const last = await stage(records - tenth, records);
  await cluster[Symbol.asyncDispose]();
  const disk = (await folderBytes(server.data)) / (records * (keyBytes + valueBytes));
  return rowsOf(first, last, { records, disk });
}

function rowsOf(
  first: Stage,
  last: Stage,
  { records, disk }: { readonly records: number; readonly disk: number },
): Comparison[] {
  const section = 'records';
  const recordsText = `${records.toLocaleString('en')} records`;
  const row = (name: keyof Stage, unit: string, what: string): Comparison => {
    const beside = { name: 'the first tenth', figure: first[name] };
    const aim = name === 'residentMb' ? { atMost: 1.25 } : { atLeast: 0.7 };
    return comparison({ section, what, unit, figure: last[name], beside, aim });
  };
  const what = 'bytes on disk per byte of keys and values';
  return [
    row('putsPerSecond', '/s', `puts, last tenth of ${recordsText}`),
    row('getsPerSecond', '/s', `gets with ${recordsText}`),
    row('residentMb', 'MB', `resident memory with ${recordsText}`),
    comparison({ section, what, unit: '', figure: disk }),
  ];
}
