// Figures of the store and of copies, taken where they pass: gauges on request, bytes on arrival.
import { copyRead, copyStart } from '@ringwright/wire/copies';
import type { AnswerOf } from '@ringwright/wire/message';
import type { DeviceCaller } from '../peers/device-caller.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { StatusPorts } from './status.ts';

/** Counts the partition files by ring and state, and what holds moves up; called for the metrics. */
export function measurePartitions(
  { partitions, heldDrops, copyRate }: Metrics,
  {
    store,
    reconciler,
    rings,
    throttle,
  }: Pick<StatusPorts, 'store' | 'reconciler' | 'rings' | 'throttle'>,
): void {
  copyRate.set(throttle.status().inForce ?? 0);
  for (const { ring } of rings.list()) {
    const { drops, quarantines } = reconciler.held(ring.keyspace);
    heldDrops.set({ ring: ring.keyspace }, drops + quarantines);
  }
  const counts = new Map<string, number>();
  for (const { keyspace, state } of store.list()) {
    const name = `${keyspace}/${state}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  partitions.reset();
  for (const [name, count] of counts) {
    const [ring = '', state = ''] = name.split('/');
    partitions.set({ ring, state }, count);
  }
}

/** The same caller, with the bytes of partitions counted that come here. */
export function measureCopies({ copiedBytes }: Metrics, devices: DeviceCaller): DeviceCaller {
  return {
    ...devices,
    async call(to, kind, request) {
      const answer = await devices.call(to, kind, request);
      const bytes = bytesOf[kind.method]?.(answer) ?? 0;
      if (bytes > 0) copiedBytes.inc(bytes);
      return answer;
    },
  };
}

/** By the message that brings them; the answers have passed their schemas. */
const bytesOf: Readonly<Record<string, (answer: unknown) => number>> = {
  [copyRead.method]: (answer) => (answer as AnswerOf<typeof copyRead>).data.length,
  [copyStart.method]: (answer) => {
    const offer = answer as AnswerOf<typeof copyStart>;
    // The bytes of a file come to another process.
    return 'records' in offer ? offer.records.length : offer.bytes;
  },
};
