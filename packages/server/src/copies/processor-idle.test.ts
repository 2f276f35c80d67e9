// The idle share between two looks: over all processors, low priority counted as busy.
import { expect, test } from 'vitest';
import { processorIdle } from './processor-idle.ts';

const processor = (user: number, nice: number, idle: number) => ({
  times: { user, nice, sys: 0, idle, irq: 0 },
});

test('of all processors, since the last call', () => {
  let now = [processor(100, 0, 0), processor(0, 0, 100)];
  const share = processorIdle(() => now);
  now = [processor(200, 0, 0), processor(30, 20, 150)];
  expect(share()).toBe(0.25);
  now = [processor(300, 0, 0), processor(130, 20, 150)];
  expect(share()).toBe(0);
  expect(share(), 'no time has passed').toBe(1);
});
