// A scene of durability: everybody loses power, and only what was synced is left.
import type { Operation } from '../../../test/support/history.ts';
import { keysOf, type Scene, sceneOf } from './scene.ts';

const SLOW_SYNC_MS = 400;
const READY_MS_MAX = 30_000;
/** Two segments of 512 KiB: a partition that rests longer is checkpointed for that. */
const BULK_ROUNDS = 2;
const BULK_CHARACTERS = 24_000;

/** Of the oldest records and of the newest, none may be lost. */
export const powerLoss = sceneOf('a power loss of all', async (scene) => {
  const { stage, keys } = scene;
  const { victims } = stage;
  const [a, b] = scene.cast;
  await scene.askAll(a, { text: 'early', level: 'all' });
  await scene.suffer({ syncDelayMs: SLOW_SYNC_MS, walShare: 0 }, ...victims);
  const last = keys.slice(0, keys.length / 2);
  await Promise.all(last.map((key) => scene.ask(a, { key, value: scene.value(key, 'last') })));
  await Promise.all(victims.map((victim) => victim.end('cut')));
  for (const victim of victims) victim.set({ syncDelayMs: 0 });
  await Promise.all(victims.map((victim) => victim.start()));
  const answered = { isSo: isAcked, withinMs: READY_MS_MAX };
  await scene.askUntil(b, {}, answered);
});

/** Records of a partition that rests while the log turns over several times. */
export const restingPartition = sceneOf('a partition that rests', async (scene) => {
  const { stage, signal } = scene;
  const { victims } = stage;
  const [a, b] = scene.cast;
  await scene.askAll(a, { text: 'early', level: 'all' });
  await writeBulk(scene);
  await scene.suffer({ walShare: 0 }, ...victims);
  if (signal.aborted) return;
  await Promise.all(victims.map((victim) => victim.end('cut')));
  await Promise.all(victims.map((victim) => victim.start()));
  await scene.askUntil(b, {}, { isSo: isAcked, withinMs: READY_MS_MAX });
});

/** Large values in another partition. */
async function writeBulk(scene: Scene): Promise<void> {
  const [a] = scene.cast;
  const filler = '.'.repeat(BULK_CHARACTERS);
  const play = scene.stage.history.length;
  const keys = keysOf(await scene.stage.head(), { play, partition: 1 });
  for (let round = 0; round < BULK_ROUNDS; round += 1) {
    await Promise.all(
      keys.map((key) => scene.ask(a, { key, value: scene.value(key, 'bulk') + filler })),
    );
  }
}

const isAcked = ({ outcome }: Operation): boolean => outcome === 'acked';
