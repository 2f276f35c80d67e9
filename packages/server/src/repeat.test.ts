// Repeated work for each of several items: one that takes long does not delay the others.
import { expect, onTestFinished, test, vi } from 'vitest';
import { repeatEach } from './repeat.ts';

/** Repeats for these names. Runs of names in `held` end only when they are released. */
function started({ names, held, atOnce }: { names: string[]; held: string[]; atOnce: number }) {
  const releases: (() => void)[] = [];
  const begun: string[] = [];
  const work = (name: string): Promise<void> => {
    begun.push(name);
    if (!held.includes(name)) return Promise.resolve();
    return new Promise((resolve) => releases.push(resolve));
  };
  const end = repeatEach(() => names, { nameOf: (name) => name, work, atOnce, pauseMs: 1 });
  const release = (): void => {
    held.length = 0;
    for (const resolve of releases) resolve();
  };
  onTestFinished(async () => {
    release();
    await end();
  });
  return {
    begun,
    release,
    end,
    runs: (name: string) => begun.filter((one) => one === name).length,
  };
}

test('an item that takes long is not begun again, and the others are', async () => {
  const { runs, release } = started({ names: ['slow', 'fast'], held: ['slow'], atOnce: 2 });
  await vi.waitFor(() => expect(runs('fast')).toBeGreaterThan(2));
  expect(runs('slow')).toBe(1);
  release();
  await vi.waitFor(() => expect(runs('slow')).toBeGreaterThan(1));
});

test('no more than the given number run at the same time, and all get their turn', async () => {
  const names = ['a', 'b', 'c', 'd'];
  const { begun, release } = started({ names, held: [...names], atOnce: 2 });
  await vi.waitFor(() => expect(begun).toEqual(['a', 'b']));
  release();
  await vi.waitFor(() => expect(new Set(begun)).toEqual(new Set(names)));
});

test('the end waits for the runs under way', async () => {
  const { begun, release, end } = started({ names: ['slow'], held: ['slow'], atOnce: 2 });
  await vi.waitFor(() => expect(begun).toEqual(['slow']));
  let ended = false;
  const ending = end().then(() => {
    ended = true;
  });
  await new Promise(setImmediate);
  expect(ended).toBe(false);
  release();
  await ending;
  expect(begun).toEqual(['slow']);
});
