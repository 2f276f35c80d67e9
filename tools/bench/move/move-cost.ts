// bench:move, the processor time of a join without other load: of each serving thread, of the
// servers' helper processes, and of the rollout.
import { type Comparison, comparison } from '../measure/comparison.ts';
import { endedChildren, threadAndChildren } from '../measure/process-cost.ts';
import { type RingCluster, startCluster } from '../peers/ring-cluster.ts';
import type { MoveSection } from './move-section.ts';
import { commitJoin, fillRecords, rollOut } from './moved-cluster.ts';

const section = 'cost';
const servers = 3;
const partitions = 256;

interface Spent {
  readonly thread: number;
  readonly children: number;
}

/** Returns processor milliseconds per file, for a fourth server that joins three. */
export async function costSection(settings: MoveSection): Promise<Comparison[]> {
  const { sizes, tell } = settings;
  await using cluster = await startCluster(settings, { servers, partitions });
  const mib = 2 * sizes.mib;
  tell(`${mib} MiB are written`);
  await fillRecords(cluster.addresses, { mib, valueBytes: sizes.value });
  await commitJoin(cluster);
  tell('a device joins');
  const ended = await endedChildren(process.pid);
  const before = await spentOf(cluster);
  const moved = await rollOut(cluster);
  const rollout = (await endedChildren(process.pid)) - ended;
  const after = await spentOf(cluster);
  const spent = after.map(({ thread, children }, index) => {
    const was = before[index] ?? { thread: 0, children: 0 };
    return { thread: thread - was.thread, children: children - was.children };
  });
  const joiner = spent.at(-1) ?? { thread: 0, children: 0 };
  const sources = spent.slice(0, -1).map(({ thread }) => thread);
  const source = sources.reduce((sum, one) => sum + one, 0);
  const beside = spent.reduce((sum, { children }) => sum + children, 0);
  const all = spent.reduce((sum, { thread }) => sum + thread, beside);
  const each = (what: string, seconds: number, aim?: Comparison['aim']): Comparison =>
    comparison({
      ...{ section, what, unit: 'ms a file', figure: (1000 * seconds) / moved.partitions },
      ...(aim && { aim }),
    });
  return [
    each('serving thread of the joiner', joiner.thread, { atMost: 3 }),
    each('serving threads of the sources', source, { atMost: 3 }),
    each('processes beside them', beside),
    comparison({
      section,
      what: 'the rollout itself',
      unit: 's',
      figure: rollout,
      note: `${moved.rolloutSeconds.toFixed(1)} s by the clock`,
    }),
    comparison({
      ...{ section, what: 'all servers', unit: 's a GiB', aim: { atMost: 10 } },
      figure: (all * 2 ** 30) / moved.bytes,
      note: `${moved.partitions} files, ${(moved.bytes / 1e6).toFixed(0)} MB`,
    }),
  ];
}

function spentOf({ servers: all }: RingCluster): Promise<Spent[]> {
  return Promise.all(all.map(({ program }) => threadAndChildren(program.pid)));
}
