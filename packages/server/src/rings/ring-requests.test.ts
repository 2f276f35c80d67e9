// The counts of requests in flight, against a list of the requests.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RingRequests } from './ring-requests.ts';

test('after any order of begins and ends the list counts the requests in flight', () => {
  const request = fc.record({
    kind: fc.constantFrom('coordinated' as const, 'answered' as const),
    keyspace: fc.constantFrom('cities', 'notes'),
    ringVersion: fc.integer({ min: 1, max: 4 }),
  });
  const steps = fc.array(fc.oneof(request, fc.nat(30)), { maxLength: 80 });
  fc.assert(
    fc.property(steps, (steps) => {
      const requests = new RingRequests();
      const running: (typeof request extends fc.Arbitrary<infer R> ? R : never)[] = [];
      for (const step of steps) {
        if (typeof step === 'number') {
          const [ended] = running.splice(step % (running.length + 1), 1);
          if (ended !== undefined) requests.end(ended.kind, ended);
        } else {
          running.push(step);
          requests.begin(step.kind, step);
        }
        for (const keyspace of ['cities', 'notes']) {
          const here = running.filter((one) => one.keyspace === keyspace);
          const count = (version: number, kind: string): number =>
            here.filter((one) => one.ringVersion === version && one.kind === kind).length;
          const versions = [...new Set(here.map((one) => one.ringVersion))].sort((a, b) => a - b);
          expect(requests.list(keyspace)).toEqual(
            versions.map((version) => ({
              version,
              coordinated: count(version, 'coordinated'),
              answered: count(version, 'answered'),
            })),
          );
        }
      }
    }),
  );
});
