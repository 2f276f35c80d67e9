// Program: a store whose log has grown without a checkpoint, and the time to reopen it.
//     node tools/bench/replay-case.ts fill DIR MIB    writes, then kills itself with SIGKILL
//     node tools/bench/replay-case.ts open DIR        prints {seconds, longestStallMs, residentMb}
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { seededRandom } from '@ringwright/base/random';
import { openStore } from '@ringwright/partition/open-store';
import { folderBytes } from './measure/folder-bytes.ts';
import { residentMb } from './measure/process-cost.ts';

const keyspace = 'bench';
const partitions = 64;
const writesAtOnce = 128;
const value = Buffer.alloc(100, 'v');

const [verb, directory = '', mib = '0'] = process.argv.slice(2);
const newIncarnation = (): string => randomBytes(12).toString('hex');

async function fill(): Promise<void> {
  const limits = { logSegmentsBehindMax: 1_000_000, walBytesMax: 2 ** 40 };
  const store = await openStore({ directory, newIncarnation, limits });
  for (let partition = 0; partition < partitions; partition += 1) {
    await store.create(keyspace, partition, 'ready');
  }
  const random = seededRandom(1);
  for (let ms = 1; ; ms += 1) {
    const writes = Array.from({ length: writesAtOnce }, () => ({
      ...{ keyspace, partition: random.below(partitions), ms, tie: 0 },
      ...{ key: Buffer.from(`key:${random.next()}`), value },
    }));
    await store.write(writes);
    const isFull = async (): Promise<boolean> =>
      (await folderBytes(path.join(directory, 'log'))) >= Number(mib) * 2 ** 20;
    if (ms % 1_000 === 0 && (await isFull())) process.kill(process.pid, 'SIGKILL');
  }
}

async function open(): Promise<void> {
  const delays = monitorEventLoopDelay({ resolution: 5 });
  delays.enable();
  const started = performance.now();
  const store = await openStore({ directory, newIncarnation });
  const seconds = (performance.now() - started) / 1000;
  // Waits for the event loop once more, to catch a stall at the end of the opening.
  await new Promise((resolve) => setTimeout(resolve, 50));
  const figures = { seconds, longestStallMs: delays.max / 1e6 };
  console.log(JSON.stringify({ ...figures, residentMb: await residentMb(process.pid) }));
  await store.close();
}

await (verb === 'fill' ? fill() : open());
