// Program: opens a store, marks each of its partitions `lost`, writes a record to each, and leaves
// the store. Prints whether its files have everything.
import { randomUUID } from 'node:crypto';
import type { Write } from '../../src/file/record.ts';
import { openStore } from '../../src/open-store.ts';

const [directory = '', partitions = '', text = '', withinMs = ''] = process.argv.slice(2);
const store = await openStore({ directory, newIncarnation: randomUUID });
const all = Array.from({ length: Number(partitions) }, (_, partition) => partition);
const missing = all.filter((partition) => store.info('test', partition) === null);
await Promise.all(missing.map((partition) => store.create('test', partition, 'ready')));
await Promise.all(all.map((partition) => store.setState('test', partition, 'lost')));
const bytes = Buffer.from(text);
const written = { keyspace: 'test', key: bytes, value: bytes, ms: 1, tie: 1 };
await store.write(all.map((partition): Write => ({ ...written, partition })));
process.stdout.write(JSON.stringify(await store.leave(Number(withinMs))));
process.exit(0);
