// The operator's controls of moves against a model; the file is read again after every command.
import { generateKeyPairSync } from 'node:crypto';
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { seededRandom } from '@ringwright/base/random';
import { moveActions } from '@ringwright/wire/moves';
import { expect, test } from 'vitest';
import { scratchFolder } from '../../../../test/support/scratch-folder.ts';
import { loadDeviceKey } from '../device/device-key.ts';
import { MoveControls } from './move-controls.ts';

const seed = 20_261_121;
const ids = Array.from({ length: 12 }, (_, id) => id);

test(`pauses, order and force match the model (SEED=${seed})`, async () => {
  await using folder = await scratchFolder();
  const random = seededRandom(seed);
  let paused = new Set<number>();
  let first: number[] = [];
  const forced = new Map<number, string>();
  for (let round = 0; round < 150; round += 1) {
    const inFlight = new Set(ids.filter(() => random.below(10) > 0));
    const moves = [...inFlight]
      .filter(() => random.below(3) === 0)
      .map((assignment) => ({ assignment, partition: 100 + assignment }));
    const named = new Set(moves.map(({ assignment }) => assignment));
    const action = moveActions[random.below(moveActions.length)]!;
    const reason = action === 'force' ? `reason ${round}` : null;
    const controls = await MoveControls.load(folder.path);
    await controls.change('notes', action, { moves, inFlight, reason });

    paused = new Set([...paused].filter((id) => inFlight.has(id)));
    for (const id of named) {
      if (action === 'pause') paused.add(id);
      if (action === 'resume') paused.delete(id);
      if (action === 'force') forced.set(id, `reason ${round}`);
    }
    if (action === 'prioritise') {
      first = [...named, ...first.filter((id) => inFlight.has(id) && !named.has(id))];
    }
    if (random.below(5) === 0) {
      await controls.endForce('notes', 103);
      forced.delete(3);
    }
    const again = await MoveControls.load(folder.path);
    expect(ids.filter((id) => again.isPaused('notes', id))).toEqual(
      ids.filter((id) => paused.has(id)),
    );
    const order = ids
      .filter((id) => again.priority('notes', id) > 0)
      .sort((a, b) => again.priority('notes', b) - again.priority('notes', a));
    expect(order).toEqual(first);
    for (const id of ids) {
      const reasons = [id, null].map((assignment) =>
        again.forceReason('notes', 100 + id, assignment),
      );
      expect(reasons).toEqual([forced.get(id) ?? null, forced.get(id) ?? null]);
      expect(again.forceReason('notes', 100 + id, id + 1), 'another move').toBeNull();
      expect(again.isPaused('other', id), 'another keyspace').toBe(false);
    }
  }
});

test('an unreadable file stops the start, as it may contain a pause', async () => {
  await using folder = await scratchFolder();
  await writeFile(join(folder.path, 'moves.json'), '{"format":1');
  await expect(MoveControls.load(folder.path)).rejects.toMatchObject({ code: 'DISK_FAILED' });
});

test('a data directory keeps one key, which only its owner can read', async () => {
  await using folder = await scratchFolder();
  const made = await loadDeviceKey(folder.path);
  expect((await loadDeviceKey(folder.path)).equals(made)).toBe(true);
  expect((await stat(join(folder.path, 'device-key.pem'))).mode & 0o777).toBe(0o600);
});

// An RSA key served, but rings cannot name it. One for key exchange ended the start as a bug.
test.each(['ec', 'x25519'] as const)('a key of type %s is refused', async (type) => {
  await using folder = await scratchFolder();
  const { privateKey } =
    type === 'ec' ? generateKeyPairSync(type, { namedCurve: 'P-256' }) : generateKeyPairSync(type);
  const pem = privateKey.export({ format: 'pem', type: 'pkcs8' });
  await writeFile(join(folder.path, 'device-key.pem'), pem);
  await expect(loadDeviceKey(folder.path)).rejects.toMatchObject({
    code: 'DISK_FAILED',
    message: expect.stringContaining(`its key is of type ${type}, not ed25519`),
  });
});
