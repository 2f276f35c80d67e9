// bench:store, starts: with 1,024 partitions after a clean stop, and with a log of 256 MiB.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { must } from '@ringwright/base/assert';
import { runLoad } from '../load/load-run.ts';
import { type Comparison, comparison } from '../measure/comparison.ts';
import { outputOf } from '../measure/finished-program.ts';
import { residentMb } from '../measure/process-cost.ts';
import { startCluster } from '../peers/ring-cluster.ts';
import type { StoreSection } from './store-section.ts';

const section = 'recovery';
const partitions = 1_024;
/** A server checks every 10 s whether it is idle; V8 returns memory about 8 s later. */
const idleMs = 30_000;
const logMib = 256;
const replayCase = path.join(import.meta.dirname, '../replay-case.ts');

interface ReplayFigures {
  readonly seconds: number;
  readonly longestStallMs: number;
  readonly residentMb: number;
}

export async function recoverySection(settings: StoreSection): Promise<Comparison[]> {
  return [...(await cleanStart(settings)), ...(await replays(settings))];
}

async function cleanStart(settings: StoreSection): Promise<Comparison[]> {
  const { sizes } = settings;
  settings.tell(`${partitions} partitions`);
  await using cluster = await startCluster(settings, { servers: 1, partitions });
  const server = must(cluster.servers[0], 'one server was started');
  await runLoad({
    ...{ kind: 'client', addresses: cluster.addresses, op: 'fill', seconds: 0, inFlight: 64 },
    ...{ keys: sizes.keys, valueBytes: 100, seed: 1 },
  });
  const filled = await residentMb(server.program.pid);
  await setTimeout(idleMs);
  const idle = await residentMb(server.program.pid);
  await server.program.stop();
  const started = performance.now();
  await cluster.restart(server);
  const seconds = (performance.now() - started) / 1000;
  const ready = await residentMb(server.program.pid);
  const labels = { section, what: `${partitions} partitions` };
  const memory = (when: string, figure: number): Comparison => {
    const what = `${labels.what}, ${when}`;
    return comparison({ section, what, unit: 'MB resident', figure, aim: { atMost: 300 } });
  };
  return [
    memory('just started', ready),
    memory(`right after ${sizes.keys} puts`, filled),
    memory('at rest', idle),
    comparison({ ...labels, unit: 's to start', figure: seconds, aim: { atMost: 2 } }),
  ];
}

/** After SIGKILL the files have what the log has; after a power loss only the log may have it. */
async function replays({ folder, tell }: StoreSection): Promise<Comparison[]> {
  const killed = path.join(folder, 'killed');
  tell(`a log of ${logMib} MiB`);
  await once(spawn(process.execPath, [replayCase, 'fill', killed, `${logMib}`]), 'close');
  const lost = path.join(folder, 'power-lost');
  const isWal = (file: string): boolean => /-(wal|shm)$/.test(file);
  await fs.cp(killed, lost, { recursive: true, filter: (file) => !isWal(file) });
  return [...(await replay('SIGKILL', killed)), ...(await replay('a power loss', lost))];
}

async function replay(after: string, directory: string): Promise<Comparison[]> {
  const text = await outputOf(process.execPath, [replayCase, 'open', directory]);
  // Written by replay-case.ts.
  const { seconds, longestStallMs, residentMb } = JSON.parse(text) as ReplayFigures;
  const labels = { section, what: `replay of ${logMib} MiB after ${after}` };
  return [
    comparison({ ...labels, unit: 's', figure: seconds, aim: { atMost: 10 } }),
    comparison({ ...labels, unit: 'ms stall', figure: longestStallMs, aim: { atMost: 200 } }),
    comparison({ ...labels, unit: 'MB resident', figure: residentMb }),
  ];
}
