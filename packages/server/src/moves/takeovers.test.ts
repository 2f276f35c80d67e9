// Each pass reports the ring in force to the takeovers; its moves may be tens of thousands.
import { expect, test } from 'vitest';
import { activeOn, moveVersions, servedRing } from '../../../../test/support/served-ring.ts';
import { Takeovers } from './takeovers.ts';

test('the moves of a ring are read once, and those of the next ring again', () => {
  const place = servedRing({ devices: 4, replicas: 1, power: 1 });
  const moves = [0, 1].map((partition) => ({ partition, replica: 0, from: partition, to: 3 }));
  const [proposed] = moveVersions(place, moves);
  const active = activeOn(proposed, 3);
  let reads = 0;
  const counting = () => {
    const ring = Object.defineProperty({ ...active.ring }, 'moves', {
      get: () => {
        reads += 1;
        return active.ring.moves;
      },
    });
    return { ...active, ring };
  };
  // Remembering a ring uses no port.
  const ports = {} as ConstructorParameters<typeof Takeovers>[0];
  const listener = { onServing: () => {}, onFailed: () => {}, onEnded: () => {} };
  const takeovers = new Takeovers(ports, listener);
  const [first, second] = [counting(), counting()];
  takeovers.remember(first);
  const readsOnce = reads;
  expect(readsOnce).toBeGreaterThan(0);
  for (let pass = 0; pass < 9; pass += 1) takeovers.remember(first);
  expect(reads).toBe(readsOnce);
  takeovers.remember(second);
  expect(reads).toBe(2 * readsOnce);
});
