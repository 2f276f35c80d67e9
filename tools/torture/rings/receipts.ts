// The receipts of a tortured ring: a joiner must have its records from the right sources, and its
// file must be a new one.
import fs from 'node:fs';
import path from 'node:path';
import { ringFolder } from '@ringwright/repository/folder/ring-folder';
import { type MoveReceipt, openReceipt } from '@ringwright/ring/trust/move-receipt';
import { keyspace, type Stage } from '../stage.ts';

/** For three replicas: this many others include a member of every write quorum (N - W + 1). */
const OTHERS_MIN = 2;

/** Returns the receipts of all versions together. Throws RECEIPT_INVALID. */
export function readReceipts(stage: Stage): readonly MoveReceipt[] {
  const { receipts } = ringFolder(stage.rings, keyspace);
  const names = fs.existsSync(receipts) ? fs.readdirSync(receipts).toSorted() : [];
  return names.flatMap((name) => {
    const text = fs.readFileSync(path.join(receipts, name), 'utf8');
    return text.split('\n').slice(0, -1).map(openReceipt);
  });
}

/** Returns the faults as sentences. */
export function receiptFaults(receipts: readonly MoveReceipt[]): string[] {
  const files = new Set<string>();
  return receipts.flatMap((receipt) => {
    const { partition, version, to, from, file, copy, merged } = receipt;
    const what = `receipt of partition ${partition} on d${to}, version ${version}`;
    const sources = new Set([...(copy === null ? [] : [copy.device]), ...merged]);
    // Children of split or merged partitions come from files of their own device.
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
