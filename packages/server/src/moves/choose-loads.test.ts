// Choosing the loads that start: their order, each limit, and a property: no load waits without a
// reason.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Locality } from '../copies/locality.ts';
import {
  type BusySource,
  byUrgency,
  chooseLoads,
  type LoadCandidate,
  type StartRule,
  whyWait,
} from './choose-loads.ts';

const limits = { device: 4, server: 2, zone: 3 };
const noRule: StartRule = { loads: null, startAtMs: 0 };

function load(partition: number, change: Partial<LoadCandidate> = {}): LoadCandidate {
  return {
    keyspace: 'cities',
    partition,
    assignment: partition,
    source: { server: `10.0.0.${partition}`, zone: `r1z${partition}` },
    sourceName: `${partition}`,
    bytes: null,
    priority: 0,
    paused: false,
    notBeforeMs: 0,
    ...change,
  };
}

/** One sorted list per source, as the queue keeps them. */
function listsOf<Candidate extends LoadCandidate>(candidates: readonly Candidate[]) {
  const sorted = candidates.toSorted(byUrgency);
  return [...Map.groupBy(sorted, ({ sourceName }) => sourceName).values()];
}

function chosen(
  candidates: LoadCandidate[],
  running: (Locality | null)[] = [],
  rule: StartRule = noRule,
) {
  const elsewhere = running.map((source) => ({ source, sourceName: 'elsewhere' }));
  const conditions = { limits, rule, busy: new Map(), nowMs: 1_000 };
  const lists = listsOf(candidates);
  const { start, wakeAtMs } = chooseLoads(lists, { ...conditions, running: elsewhere });
  const after = { ...conditions, running: [...elsewhere, ...start] };
  const wait = candidates.filter((one) => !start.includes(one)).toSorted(byUrgency);
  return {
    start: start.map(({ partition }) => partition),
    wait: wait.map((one) => `${one.partition} ${whyWait(one, after)}`),
    wakeAtMs,
  };
}

describe('the order', () => {
  test('loads start by priority; then refills, smaller files and lower numbers go first', () => {
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

  test('paused loads and loads in a cooldown do not hold back others', () => {
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

  test('beyond the limit of one server the next load comes from another server', () => {
    const all = [1, 2, 3].map((partition) => load(partition, { source: here }));
    expect(chosen([...all, load(4)])).toMatchObject({ start: [1, 2, 4], wait: ['3 server'] });
  });

  test('the limit of one zone includes running loads', () => {
    const all = [load(1, { source: sameZone }), load(2, { source: sameZone })];
    expect(chosen(all, [here, here])).toMatchObject({ start: [1], wait: ['2 zone'] });
    expect(chosen([...all, load(3)], [here, here]).start).toEqual([1, 3]);
  });

  test('a load without a particular source counts for the limit of the device only', () => {
    const all = [1, 2, 3].map((partition) => load(partition, { source: null }));
    expect(chosen(all, [null, null])).toMatchObject({ start: [1, 2], wait: ['3 device'] });
  });
});

describe('when requests suffer', () => {
  const all = [1, 2, 3].map((partition) => load(partition));

  test('fewer loads run at once, and the next one waits for the end of another', () => {
    const wait = ['3 throttle'];
    expect(chosen(all, [], { ...noRule, loads: 2 })).toEqual({
      ...{ start: [1, 2], wait },
      wakeAtMs: null,
    });
    expect(chosen(all, [null, null], { ...noRule, loads: 2 }).start).toEqual([]);
  });

  test('no load starts during a cooldown, and the next one starts after it', () => {
    const rule = { loads: 1, startAtMs: 1_100 };
    expect(chosen(all, [], rule)).toMatchObject({ start: [], wakeAtMs: 1_100 });
    const cooling = { ...rule, startAtMs: 1_000 };
    expect(chosen(all, [], cooling)).toMatchObject({ start: [1], wakeAtMs: null });
  });
});

describe('a busy source', () => {
  const all = ['a', 'b', 'a', 'a', 'b'].map((sourceName, partition) =>
    load(partition, { sourceName, source: null }),
  );
  const starting = (busy: BusySource, running: readonly string[] = [], candidates = all) =>
    chooseLoads(listsOf(candidates), {
      running: running.map((sourceName) => ({ source: null, sourceName })),
      ...{ limits: { device: 9, server: 9, zone: 9 }, rule: noRule, nowMs: 1_000 },
      busy: new Map([['a', busy]]),
    });
  const partitions = (...asked: Parameters<typeof starting>) =>
    starting(...asked).start.map(({ partition }) => partition);

  test('fills all of its places, and other sources are not held back', () => {
    const busy = { places: 2, untilMs: 1_500 };
    expect(partitions(busy)).toEqual([0, 1, 2, 4]);
    expect(partitions(busy, ['a'])).toEqual([0, 1, 4]);
    expect(partitions(busy, ['a', 'a', 'b'])).toEqual([1, 4]);
  });

  test('without a place starts no load before its time, and all loads then', () => {
    const choice = starting({ places: 0, untilMs: 1_500 });
    expect(choice.wakeAtMs).toBe(1_500);
    expect(choice.start.map(({ partition }) => partition)).toEqual([1, 4]);
    expect(partitions({ places: 0, untilMs: 1_000 })).toEqual([0, 1, 2, 3, 4]);
  });

  test('keeps its places for loads that may start', () => {
    const [paused, , cooling, free] = all;
    const some = [{ ...paused!, paused: true }, { ...cooling!, notBeforeMs: 1_500 }, free!];
    expect(partitions({ places: 1, untilMs: 1_500 }, [], some)).toEqual([3]);
  });
});

const place = fc.record({
  server: fc.constantFrom('a', 'b', 'c'),
  zone: fc.constantFrom('x', 'y'),
});
const candidates = fc.array(
  fc.record({
    from: fc.nat(4),
    priority: fc.nat(2),
    paused: fc.boolean(),
    notBeforeMs: fc.constantFrom(0, 1_000, 2_000),
    bytes: fc.option(fc.nat(9)),
  }),
);
const busySource = fc.record({ places: fc.nat(2), untilMs: fc.constantFrom(1_000, 1_500) });
const queue = fc.record({
  candidates,
  sources: fc.array(fc.option(place), { minLength: 5, maxLength: 5 }),
  busy: fc.array(fc.option(busySource), { minLength: 5, maxLength: 5 }),
  loads: fc.option(fc.integer({ min: 1, max: 5 })),
  startAtMs: fc.constantFrom(0, 1_200),
});

test('no queue exceeds a limit, and each load waits for a true reason', () => {
  fc.assert(
    fc.property(queue, ({ candidates: changes, sources, busy, loads, startAtMs }) => {
      const all = changes.map(({ from, ...change }, partition) =>
        load(partition, { ...change, source: sources[from]!, sourceName: `${from}` }),
      );
      const known = busy.flatMap((one, from) => (one === null ? [] : [[`${from}`, one] as const]));
      const state = {
        ...{ running: [], limits, nowMs: 1_000, rule: { loads, startAtMs } },
        busy: new Map<string, BusySource>(known),
      };
      const { start, wakeAtMs } = chooseLoads(listsOf(all), state);
      const left = all.filter((one) => !start.includes(one));
      for (const nowMs of [1_200, 1_500, 2_000]) {
        if (wakeAtMs !== null && wakeAtMs <= nowMs) continue;
        const then = chooseLoads(listsOf(left), { ...state, running: start, nowMs });
        expect(then.start, `the queue wakes before a load could start at ${nowMs}`).toEqual([]);
      }

      const count = (name: keyof Locality, like: Locality | null): number =>
        start.filter(({ source }) => source !== null && source[name] === like?.[name]).length;
      const from = (sourceName: string): number =>
        start.filter((one) => one.sourceName === sourceName).length;
      const isBusy = (sourceName: string): boolean =>
        (state.busy.get(sourceName)?.untilMs ?? 0) > 1_000 &&
        from(sourceName) >= state.busy.get(sourceName)!.places;
      expect(start.length).toBeLessThanOrEqual(Math.min(limits.device, loads ?? limits.device));
      for (const { source, sourceName } of start) {
        expect(count('server', source)).toBeLessThanOrEqual(limits.server);
        expect(count('zone', source)).toBeLessThanOrEqual(limits.zone);
        const { places = 9, untilMs = 0 } = state.busy.get(sourceName) ?? {};
        if (untilMs > 1_000) expect(from(sourceName)).toBeLessThanOrEqual(places);
      }
      for (const candidate of left) {
        const why = whyWait(candidate, { ...state, running: start });
        const reason = {
          paused: candidate.paused,
          cooldown: candidate.notBeforeMs > 1_000,
          busy: isBusy(candidate.sourceName),
          device: start.length === limits.device,
          throttle: start.length === loads || startAtMs > 1_000,
          server: count('server', candidate.source) === limits.server,
          zone: count('zone', candidate.source) === limits.zone,
        };
        expect(why !== null && reason[why], `${why}`).toBe(true);
      }
    }),
  );
});
