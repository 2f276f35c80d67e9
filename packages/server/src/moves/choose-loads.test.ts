// Which loads start: the order, each limit, and that nothing waits without a reason.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Locality } from '../copies/locality.ts';
import {
  byUrgency,
  chooseLoads,
  inUrgency,
  type LoadCandidate,
  type StartRule,
} from './choose-loads.ts';

const limits = { device: 4, server: 2, zone: 3 };
const noRule: StartRule = { loads: null, startAtMs: 0 };

function load(partition: number, change: Partial<LoadCandidate> = {}): LoadCandidate {
  return {
    keyspace: 'cities',
    partition,
    assignment: partition,
    source: { server: `10.0.0.${partition}`, zone: `r1z${partition}` },
    bytes: null,
    priority: 0,
    paused: false,
    notBeforeMs: 0,
    ...change,
  };
}

function chosen(
  candidates: LoadCandidate[],
  running: (Locality | null)[] = [],
  rule: StartRule = noRule,
) {
  // As the queue has them: some in one list, the others in another.
  const lists = [candidates.slice(0, 2), candidates.slice(2)].map((list) => list.sort(byUrgency));
  const choice = chooseLoads(inUrgency(lists), { running, limits, rule, nowMs: 1_000 });
  return {
    start: choice.start.map(({ partition }) => partition),
    wait: choice.wait.map(({ candidate, why }) => `${candidate.partition} ${why}`),
    wakeAtMs: choice.wakeAtMs,
  };
}

describe('the order', () => {
  test('priority, then refills, then what is known to be small, then the number', () => {
    const all = [
      load(1, { bytes: 9_000 }),
      load(3),
      load(2),
      load(4, { assignment: null }),
      load(5, { priority: 1, bytes: 99_000 }),
    ];
    expect(chosen(all).start).toEqual([5, 4, 2, 3]);
    expect(chosen(all).wait).toEqual(['1 device']);
  });

  test('paused ones and those in a cooldown keep nobody back', () => {
    const all = [
      load(1, { paused: true, priority: 9 }),
      load(2, { notBeforeMs: 1_700, priority: 8 }),
      load(3, { notBeforeMs: 1_500 }),
      load(4, { notBeforeMs: 1_000 }),
    ];
    const answer = { start: [4], wait: ['1 paused', '2 cooldown', '3 cooldown'], wakeAtMs: 1_500 };
    expect(chosen(all)).toEqual(answer);
  });
});

describe('the limits', () => {
  const here = { server: '10.0.0.1', zone: 'r1z1' };
  const sameZone = { server: '10.0.0.2', zone: 'r1z1' };

  test('of one server: the next in line comes from another', () => {
    const all = [1, 2, 3].map((partition) => load(partition, { source: here }));
    expect(chosen([...all, load(4)])).toMatchObject({ start: [1, 2, 4], wait: ['3 server'] });
  });

  test('of one zone, loads under way included', () => {
    const all = [load(1, { source: sameZone }), load(2, { source: sameZone }), load(3)];
    expect(chosen(all, [here, here])).toMatchObject({ start: [1, 3], wait: ['2 zone'] });
  });

  test('a load of no particular source counts for the device only', () => {
    const all = [1, 2, 3].map((partition) => load(partition, { source: null }));
    expect(chosen(all, [null, null])).toMatchObject({ start: [1, 2], wait: ['3 device'] });
  });
});

describe('requests suffer', () => {
  const all = [1, 2, 3].map((partition) => load(partition));

  test('fewer at once: the end of one is waited for', () => {
    const wait = ['3 throttle'];
    expect(chosen(all, [], { ...noRule, loads: 2 })).toEqual({
      ...{ start: [1, 2], wait },
      wakeAtMs: null,
    });
    expect(chosen(all, [null, null], { ...noRule, loads: 2 }).start).toEqual([]);
  });

  test('with a cooldown: none, and the next when it is over', () => {
    const rule = { loads: 1, startAtMs: 1_100 };
    expect(chosen(all, [], rule)).toMatchObject({ start: [], wakeAtMs: 1_100 });
    const cooling = { ...rule, startAtMs: 1_000 };
    expect(chosen(all, [], cooling)).toMatchObject({ start: [1], wakeAtMs: null });
  });
});

const place = fc.record({
  server: fc.constantFrom('a', 'b', 'c'),
  zone: fc.constantFrom('x', 'y'),
});
const candidates = fc.array(
  fc.record({
    source: fc.option(place),
    priority: fc.nat(2),
    paused: fc.boolean(),
    notBeforeMs: fc.constantFrom(0, 1_000, 2_000),
    bytes: fc.option(fc.nat(9)),
  }),
);

test('any queue: no limit is passed, and whoever waits for one would pass it', () => {
  fc.assert(
    fc.property(candidates, fc.option(fc.integer({ min: 1, max: 5 })), (changes, loads) => {
      const loaded = changes.map((change, partition) => load(partition, change));
      const all = loaded.toSorted(byUrgency);
      const lists = Object.values(Object.groupBy(loaded, ({ partition }) => partition % 3));
      const merged = inUrgency(lists.map((list = []) => list.sort(byUrgency)));
      expect([...merged]).toEqual(all);
      const { start, wait } = chooseLoads(all, {
        running: [],
        limits,
        rule: { ...noRule, loads },
        nowMs: 1_000,
      });
      expect(start.length + wait.length).toBe(all.length);
      const short = chooseLoads(all, {
        ...{ running: [], limits, nowMs: 1_000, isShort: true },
        rule: { ...noRule, loads },
      });
      expect(short.start).toEqual(start);
      expect(short.wait).toEqual(wait.slice(0, short.wait.length));
      const sources = start.map(({ source }) => source);
      const count = (name: keyof Locality, like: Locality | null): number =>
        sources.filter((source) => source !== null && source[name] === like?.[name]).length;
      const most = Math.min(limits.device, loads ?? limits.device);
      expect(start.length).toBeLessThanOrEqual(most);
      for (const source of sources) {
        expect(count('server', source)).toBeLessThanOrEqual(limits.server);
        expect(count('zone', source)).toBeLessThanOrEqual(limits.zone);
      }
      for (const { candidate, why } of wait) {
        const reason = {
          paused: candidate.paused,
          cooldown: candidate.notBeforeMs > 1_000,
          device: start.length === limits.device,
          throttle: start.length === loads,
          server: count('server', candidate.source) === limits.server,
          zone: count('zone', candidate.source) === limits.zone,
        };
        expect(reason[why], why).toBe(true);
      }
    }),
  );
});
