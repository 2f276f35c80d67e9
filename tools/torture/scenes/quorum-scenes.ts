// Scenes of the coordinator: what one server was told reaches another late, or never.
import { lasts } from '../nemesis.ts';
import { isText, type Scene, sceneOf } from './scene.ts';

/** Longer than a read and another one take together. */
const SLOW_SYNC_MS = 800;
/** A held request arrives, is stored and answered. */
const ARRIVAL_MS = 200;
const STORED_MS_MAX = 3_000;
/** Within the minute that stamps may lie ahead. */
const AHEAD_MS = 20_000;

/** A write reaches one of three devices: once it was read, every later read shows it. */
export const halfWritten = sceneOf('a write that reached one device', async (scene) => {
  const { signal } = scene;
  const [a, b, c] = scene.cast;
  scene.hold([a, b], [a, c]);
  const writing = scene.askAll(a, { text: 'after' });
  const stored = { isSo: isText('after'), withinMs: STORED_MS_MAX };
  await scene.askUntil(a, { level: 'one' }, stored);
  await lasts(ARRIVAL_MS, signal);
  scene.hold([c, a]);
  await scene.askAll(c, {}); // nobody may miss what was acknowledged
  scene.lose([a, b], [a, c]);
  await scene.suffer({ syncDelayMs: SLOW_SYNC_MS }, b, c);
  scene.hold([b, c]);
  await Promise.all(
    scene.keys.map(async (key) => {
      await scene.ask(b, { key });
      await scene.ask(c, { key });
    }),
  );
  await scene.suffer({ syncDelayMs: 0 }, b, c);
  scene.stage.network.heal();
  await writing;
});

/** A device has missed a write, and is asked for it: by a session, and at a quorum. */
export const missedWrite = sceneOf('a device that missed a write', async (scene) => {
  const [a, , c] = scene.cast;
  scene.hold([a, c]);
  await Promise.all(
    scene.keys.map(async (key) => {
      const value = scene.value(key, 'after');
      const { stamp } = await scene.ask(a, { key, value, seen: { session: key, stamp: null } });
      await scene.ask(c, { key, level: 'one', seen: { session: key, stamp } });
      await scene.ask(c, { key });
    }),
  );
  scene.lose([a, c]);
});

/** A record arrives when a newer one has long been acknowledged. */
export const lateArrival = sceneOf('a record that arrives late', async (scene) => {
  const [a, b, c] = scene.cast;
  scene.hold([a, b], [a, c]);
  await scene.askAll(a, { text: 'older', level: 'one' });
  await scene.askAll(b, { text: 'newer', level: 'all' });
  scene.release([a, b], [a, c]);
  await lasts(ARRIVAL_MS, scene.signal);
  await readWithout(scene);
});

/** A server that has not heard of a newer stamp writes below it. */
export const lowStamp = sceneOf('a write below another one', async (scene) => {
  const [a, b, c] = scene.cast;
  scene.hold([b, a], [c, a]);
  await scene.suffer({ clockOffsetMs: AHEAD_MS }, b);
  await scene.askAll(b, { text: 'newer' });
  await scene.askAll(a, { text: 'lower' });
  await scene.suffer({ clockOffsetMs: 0 }, b);
  scene.stage.network.heal();
  await scene.askAll(c, {});
});

/** Through the second server and the third, without the first. */
async function readWithout(scene: Scene): Promise<void> {
  const [a, b, c] = scene.cast;
  scene.hold([b, a], [c, a]);
  await Promise.all([scene.askAll(b, {}), scene.askAll(c, {})]);
}
