// Signed rings travel from peer to peer: a missed version travels as a delta, and signatures that
// were added to an active version are relayed with it.
import fs from 'node:fs/promises';
import path from 'node:path';
import { waitFor } from '@ringwright/node/wait-for';
import { expect, test } from 'vitest';
import { askServer } from '../support/ask-server.ts';
import { clusterForTest, keyspace } from '../support/cluster.ts';
import type { ServerUnderTest } from '../support/server-under-test.ts';
import { signingFolder } from '../support/signing-folder.ts';

/** About twenty processes start one after another, on a machine that may be busy. */
const limit = { timeout: 180_000 };

/** Returns the bytes of rings that a server fetched from its peers in this form. */
async function fetched(server: ServerUnderTest, form: 'delta' | 'whole'): Promise<number> {
  const { bytes } = await askServer(server.place.port, { path: '/metrics' });
  const line = new RegExp(`^ringwright_fetched_ring_bytes_total{form="${form}"} (\\d+)$`, 'm');
  return Number(line.exec(bytes.toString())?.[1] ?? 0);
}

test(
  'a server fetches a missed ring as a delta, and lost rings whole and newly signed',
  limit,
  async () => {
    const { folder, root } = await signingFolder();
    const extra = (): string[] => ['--trust', root];
    const cluster = await clusterForTest({ servers: 3, partitions: 256, folder, extra });
    const { builder } = cluster;
    await Promise.all(cluster.servers.map((server) => server.ready()));
    const away = cluster.servers[2]!;
    const headArrives = async (): Promise<void> => {
      const { id } = JSON.parse((await builder.run(`show ${keyspace} --json`)).stdout) as {
        id: string;
      };
      await waitFor('the head to be active where it was missed', {
        ask: () => away.status(),
        until: ({ rings }) => rings[0]?.id === id,
      });
    };

    await away.kill();
    await cluster.commit('set-device', 'd0', '--meta', 'missed by one');
    expect((await builder.run(`push ${keyspace}`)).exit).toBe(4);
    await cluster.restart(away);
    await headArrives();
    const { size } = await fs.stat(path.join(cluster.rings, keyspace, 'versions/0000002.ring'));
    expect(await fetched(away, 'whole')).toBe(0);
    expect(await fetched(away, 'delta')).toBeGreaterThan(0);
    expect(await fetched(away, 'delta')).toBeLessThan(size / 2);

    // The same version is now signed by bob alone. It is pushed to two servers, and the third
    // fetches it.
    const bob = await builder.json<{ line: string }>('key generate bob --role ring');
    await builder.json(['key', 'trust', '--add', bob.line]);
    await cluster.push();
    await away.kill();
    await builder.json('key revoke ada');
    await builder.json(`sign ${keyspace} --sign-as bob`);
    expect((await builder.run(`push ${keyspace}`)).exit).toBe(4);
    await fs.rm(path.join(away.place.data, 'rings'), { recursive: true });
    await cluster.restart(away);
    await headArrives();
    expect(await fetched(away, 'whole')).toBeGreaterThan(size / 2);
    expect((await away.status()).trust).toMatchObject([{ version: 3 }]);
  },
);
