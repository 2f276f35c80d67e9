// A ring that servers have supposedly received, without servers: what the builder does with it
// alone.
import { readLog } from '@ringwright/repository/folder/read-log';
import { readVersion } from '@ringwright/repository/folder/read-version';
import { proposeNextWave } from '../../tools/ring-builder/commands/apply/propose-next-wave.ts';
import { notePush } from './note-push.ts';
import { ringBuilderHere } from './ring-builder-here.ts';

const hour = 3_600_000;
const devices = [0, 1, 2, 3, 4, 5, 6].map((n) => `r1z${n}-10.0.0.${n}:6200/sdb 100`).join(' ');

/**
 * Creates a ring that the servers know and whose partitions may move again. `later` advances the
 * clock.
 */
export async function knownRing(hours: number, power = 4) {
  let nowMs = Date.parse('2026-11-01T00:00:00Z');
  const told: string[] = [];
  const world = { nowMs: () => nowMs, tell: (line: string) => void told.push(line) };
  const tool = await ringBuilderHere(world);
  const context = tool.contextOf(['rollout', 'cities']);
  const { rings } = context;
  const create = `create cities --partition-power ${power} --replicas 3 --min-part-hours`;
  await tool.json(`${create} ${hours}`);
  await tool.json(`add cities ${devices}`);
  await tool.json('commit cities -m first');
  await notePush(tool.folder);
  nowMs += 100 * hour;
  const head = () => readVersion(rings, 'cities', 'head');
  const propose = async () => proposeNextWave(context, await head(), null);
  const log = () => readLog(rings, 'cities');
  const now = () => nowMs;
  return {
    tool,
    context,
    head,
    log,
    now,
    propose,
    told,
    later: (more: number) => void (nowMs += more * hour),
  };
}

/** Drains d0 and d1, some partitions by two slots, as if no server had any records. */
export async function drained({ tool, later }: Awaited<ReturnType<typeof knownRing>>) {
  await tool.json('set-weight cities d0 0 d1 0');
  for (let left = true; left; later(100)) {
    const args = 'commit cities -m drained --direct --yes --override both';
    left = (await tool.json<{ movesLeft: number }>(args)).movesLeft > 0;
  }
}
