// The receipts of a tortured ring, all versions together.
import fs from 'node:fs';
import path from 'node:path';
import { ringFolder } from '@ringwright/repository/folder/ring-folder';
import { type MoveReceipt, openReceipt } from '@ringwright/ring/trust/move-receipt';
import { keyspace, type Stage } from '../stage.ts';
import { ringsOf } from './operator.ts';

/** Throws RECEIPT_INVALID. */
export function readReceipts(stage: Stage): readonly MoveReceipt[] {
  const { receipts } = ringFolder(ringsOf(stage), keyspace);
  const names = fs.existsSync(receipts) ? fs.readdirSync(receipts).toSorted() : [];
  return names.flatMap((name) => {
    const text = fs.readFileSync(path.join(receipts, name), 'utf8');
    return text.split('\n').slice(0, -1).map(openReceipt);
  });
}
