import { expect, test } from 'vitest';
import { BusySources } from './busy-sources.ts';

const now = 1_000;
const until = 1_500;

function candidates(...sources: readonly string[]) {
  return sources.map((sourceName, partition) => ({
    ...{ keyspace: 'k', partition, assignment: partition, source: null, bytes: null },
    ...{ priority: 0, paused: false, notBeforeMs: 0, sourceName },
  }));
}

function starting(busy: BusySources, sources: readonly string[], running: readonly string[] = []) {
  const from = running.map((sourceName) => ({ sourceName }));
  const withheld = [...busy.withhold(candidates(...sources), from, now)];
  return withheld.filter(({ notBeforeMs }) => notBeforeMs <= now).map(({ partition }) => partition);
}

test('a source that refused gives as many as it gave, and others are not held up', () => {
  const busy = new BusySources();
  busy.refused('a', { places: 2, untilMs: until });
  expect(starting(busy, ['a', 'b', 'a', 'a', 'b'])).toEqual([0, 1, 2, 4]);
  expect(starting(busy, ['a', 'b', 'a', 'a'], ['a'])).toEqual([0, 1]);
  expect(starting(busy, ['a', 'b', 'a'], ['a', 'a', 'b'])).toEqual([1]);
});

test('one without a place here waits for its time, and is asked for all then', () => {
  const busy = new BusySources();
  busy.refused('a', { places: 0, untilMs: until });
  const [first] = busy.withhold(candidates('a'), [], now);
  expect(first?.notBeforeMs).toBe(until);
  const later = [...busy.withhold(candidates('a', 'a'), [], until)];
  expect(later.map(({ notBeforeMs }) => notBeforeMs)).toEqual([0, 0]);
});

test('one that may not start takes no place', () => {
  const busy = new BusySources();
  busy.refused('a', { places: 1, untilMs: until });
  const [paused, cooling, free] = candidates('a', 'a', 'a');
  const all = [{ ...paused!, paused: true }, { ...cooling!, notBeforeMs: until }, free!];
  expect([...busy.withhold(all, [], now)]).toEqual(all);
});
