// Operations in flight: a fence waits for all of them, and for none that begins later.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { InFlight } from './in-flight.ts';

interface Work {
  readonly partition: number;
  readonly end: (how: 'resolve' | 'reject') => void;
}

function begin(inFlight: InFlight, partition: number): Work {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  inFlight.track('cities', partition, promise).catch(() => undefined);
  return {
    partition,
    end: (how) => (how === 'resolve' ? resolve() : reject(new Error('failed'))),
  };
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
}

test('a fence waits for exactly the operations that began before it', async () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('begin' as const), partition: fc.nat(2) }),
    fc.record({ do: fc.constant('fence' as const), partition: fc.nat(2) }),
    fc.record({
      do: fc.constantFrom('resolve' as const, 'reject' as const),
      which: fc.nat(20),
      partition: fc.constant(0),
    }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const inFlight = new InFlight();
      const running: Work[] = [];
      const fences: { readonly waitsFor: Set<Work>; passed: boolean }[] = [];
      for (const one of steps) {
        if (one.do === 'begin') running.push(begin(inFlight, one.partition));
        else if (one.do === 'fence') {
          const before = running.filter(({ partition }) => partition === one.partition);
          const fence = { waitsFor: new Set(before), passed: false };
          fences.push(fence);
          void inFlight.drained('cities', one.partition).then(() => {
            fence.passed = true;
          });
        } else {
          const [ended] = running.splice(one.which % (running.length + 1), 1);
          ended?.end(one.do);
          for (const { waitsFor } of fences) if (ended) waitsFor.delete(ended);
        }
        await turns();
        for (const { waitsFor, passed } of fences) expect(passed).toBe(waitsFor.size === 0);
      }
    }),
    { numRuns: 100 },
  );
});

test('a tracked promise comes back unchanged, with its value or its failure', async () => {
  const inFlight = new InFlight();
  expect(await inFlight.track('a', 1, Promise.resolve(7))).toBe(7);
  await expect(inFlight.track('a', 1, Promise.reject(new Error('no')))).rejects.toThrow('no');
  await inFlight.drained('a', 1);
});
