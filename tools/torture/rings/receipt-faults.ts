// What receipts must say of where a joiner has its records from, and of its new file. Pure.
import type { MoveReceipt } from '@ringwright/ring/trust/move-receipt';

/** Of three replicas: so many others are in every quorum's way (N - W + 1). */
const OTHERS_MIN = 2;

/** As sentences. */
export function receiptFaults(receipts: readonly MoveReceipt[]): string[] {
  const files = new Set<string>();
  return receipts.flatMap((receipt) => {
    const { partition, version, to, from, file, copy, merged } = receipt;
    const what = `receipt of partition ${partition} on d${to}, version ${version}`;
    const sources = new Set([...(copy === null ? [] : [copy.device]), ...merged]);
    // Children of partitions that are split or merged come from files of their own device.
    const isFilled =
      (from === null && sources.size === 0) ||
      (from !== null && sources.has(from)) ||
      sources.size >= OTHERS_MIN;
    const name = `${partition} ${file.incarnation}`;
    const isNew = copy === null || (file.incarnation !== copy.incarnation && !files.has(name));
    files.add(name);
    return [
      ...(isFilled ? [] : [`${what}: from ${[...sources].join()}, not from d${from}`]),
      ...(isNew ? [] : [`${what}: incarnation ${file.incarnation} is not its own`]),
    ];
  });
}
