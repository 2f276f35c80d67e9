// A scene of durability: everybody loses power, and only what was synced is left.
import type { Operation } from '../../../test/support/history.ts';
import { sceneOf } from './scene.ts';

const SLOW_SYNC_MS = 400;
const READY_MS_MAX = 30_000;

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

const isAcked = ({ outcome }: Operation): boolean => outcome === 'acked';
