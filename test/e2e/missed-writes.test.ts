// A server that missed writes coordinates reads of them: its own records are old or absent, and the
// other holders first send it only stamps.
import { expect, test } from 'vitest';
import { askServer } from '../support/ask-server.ts';
import { clusterForTest, keyspace } from '../support/cluster.ts';

const keys = Array.from({ length: 40 }, (_, index) => `key-${index}`);
const pathOf = (key: string): string => `/v1/${keyspace}/${key}`;
/** Returns a value of a few bytes up to far more than one packet. */
const valueOf = (key: string, text: string): Buffer =>
  Buffer.from(`${text} ${key} `.repeat(1 + (keys.indexOf(key) % 4) * 3_000));

test('reads through a server that missed writes are complete and repair its records', async () => {
  const cluster = await clusterForTest({ servers: 3, partitions: 16 });
  const [first, second, third] = cluster.servers;
  const ask = async (key: string, text: string | null): Promise<void> => {
    const method = text === null ? 'DELETE' : 'PUT';
    const body = text === null ? {} : { body: valueOf(key, text) };
    const { status } = await askServer(first!.place.port, { method, path: pathOf(key), ...body });
    expect(status).toBe(204);
  };
  const isNew = (key: string): boolean => keys.indexOf(key) % 5 === 0;
  const isDeleted = (key: string): boolean => keys.indexOf(key) % 5 === 1;
  await Promise.all(keys.filter((key) => !isNew(key)).map((key) => ask(key, 'before')));
  await third!.kill();
  await Promise.all(keys.map((key) => ask(key, isDeleted(key) ? null : 'after')));
  await cluster.restart(third!);
  // One of the two complete holders is paused, so a read needs the other one and this server.
  second!.pause();
  for (const level of ['quorum', 'one']) {
    for (const key of keys) {
      const path = `${pathOf(key)}?consistency=${level}`;
      const { status, bytes } = await askServer(third!.place.port, { path });
      expect(status, key).toBe(isDeleted(key) ? 404 : 200);
      if (!isDeleted(key)) expect(bytes.equals(valueOf(key, 'after')), key).toBe(true);
    }
  }
  second!.resume();
});
