// Writes to the store named on the command line and prints the number of each acknowledged write.

import { randomUUID } from 'node:crypto';
import { writeSync } from 'node:fs';
import { openStore } from '../../src/open-store.ts';

const [, , directory = '', first = '0'] = process.argv;
const limits = {
  logSegmentBytesMax: 20_000,
  walBytesMax: 100_000,
  openPartitionFilesMax: 2,
  memtableRowsMax: 50,
};
const store = await openStore({ directory, newIncarnation: randomUUID, limits });
for (const partition of [0, 1, 2]) {
  if (store.info('test', partition) === null) await store.create('test', partition, 'ready');
}
let next = Number(first);
async function writer(): Promise<void> {
  for (;;) {
    const number = next;
    next += 1;
    const key = Buffer.from(`key-${number}`);
    const value = Buffer.from(`value-${number}`);
    await store.write([
      { keyspace: 'test', partition: number % 3, key, value, ms: number + 1, tie: 0 },
    ]);
    // Synchronous, so that the kill loses no number of an acknowledged write in a buffer.
    writeSync(1, `${number}\n`);
  }
}
await Promise.all(Array.from({ length: 8 }, writer));
