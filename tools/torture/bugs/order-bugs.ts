// Bugs of stamps and clocks: which write is the last. Pure.
import { standstill } from '../nemeses/clock.ts';
import { kill } from '../nemeses/kill.ts';
import { aheadStamp, lateArrival, lowStamp } from '../scenarios/quorum-scenarios.ts';
import type { SeededBug } from './seeded-bug.ts';

export const orderBugs: readonly SeededBug[] = [
  {
    name: 'last-arrival-wins',
    about: 'a record that arrives late replaces a newer one',
    nemeses: [lateArrival],
    file: 'packages/partition/src/file/partition-file.ts',
    find: "if (order < 0) return { kind: 'stale', ms: current.ms, tie: current.tie };",
    replace: '',
  },
  {
    name: 'clock-not-persisted',
    about: 'the hybrid clock begins again at the clock of the machine after a restart',
    nemeses: [standstill],
    file: 'packages/server/src/clocks/stamp-issuer.ts',
    find: 'await save(ms);',
    replace: '',
    also: [
      {
        file: 'packages/server/src/assemble-coordinator.ts',
        find: 'const highest = { ms: store.highestMs() + 1, tie: 0 };',
        replace: 'const highest = { ms: 0, tie: 0 };',
      },
    ],
  },
  {
    name: 'clock-not-merged',
    about: 'stamps that are seen elsewhere do not move the clock here',
    nemeses: [aheadStamp],
    file: 'packages/server/src/clocks/check-clock.ts',
    find: '  clock.observe(stamp);',
    replace: '',
    also: [
      {
        file: 'packages/server/src/hello-exchange.ts',
        find: 'if (clock.aheadMs(stamp) <= clockAheadMsMax) clock.observe(stamp);',
        replace: '',
      },
    ],
  },
  {
    name: 'stale-acknowledged',
    about: 'a write that lost to a newer one is acknowledged instead of superseded',
    nemeses: [lowStamp],
    file: 'packages/server/src/coordinate/quorum-write.ts',
    find: "if (kind === 'stale' && (",
    replace: 'if (false && (',
  },
  {
    name: 'old-row-stays-cached',
    about: 'a row that was read stays in the cache when its key gets another one',
    nemeses: [kill],
    file: 'packages/partition/src/file/partition-file.ts',
    find: 'this.rowCache.forget(name);',
    replace: '',
  },
];
