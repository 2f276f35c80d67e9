// The ring of a running cluster begins to name the keys of its devices: no request fails meanwhile,
// and afterwards no other caller can pass for one of the devices.
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { deviceIdentity } from '@ringwright/node/link/device-certificate';
import { Link } from '@ringwright/node/link/link';
import { waitFor } from '@ringwright/node/wait-for';
import { keyIdOf, spkiOf } from '@ringwright/ring/trust/public-key';
import type { Caller } from '@ringwright/wire/call-channel';
import { copyOpen } from '@ringwright/wire/copies';
import { greetServer } from '@ringwright/wire/greet-server';
import { recordRead, recordWrite } from '@ringwright/wire/records';
import { tail } from '@ringwright/wire/replication';
import { expect, onTestFinished, test } from 'vitest';
import { askServer } from '../support/ask-server.ts';
import { type Cluster, clusterForTest, keyspace } from '../support/cluster.ts';
import type { ServerUnderTest } from '../support/server-under-test.ts';

/** Opens a link to a server, with a device key or, for null, without TLS. */
async function callerAt(server: ServerUnderTest, key: KeyObject | null): Promise<Link> {
  const shown = keyIdOf((await server.status()).key);
  const link = new Link(server.address, {
    handlers: new Map(),
    monotonicMs: () => performance.now(),
    connectTimeoutMs: 10_000,
    greet: (address, caller) => greetServer(caller, { address, timeoutMs: 10_000 }),
    ...(key !== null && {
      proofOf: () => ({ by: 'device', keys: new Set([shown]) }) as const,
      identity: deviceIdentity(key),
    }),
  });
  onTestFinished(() => link.close());
  await link.connect();
  return link;
}

const newKey = (): KeyObject => generateKeyPairSync('ed25519').privateKey;

/** Returns the result of each message between devices for partition 0: `answered` or a code. */
async function asked(caller: Caller, ringVersion: number): Promise<unknown[]> {
  const to = { keyspace, ringVersion, partition: 0 };
  const key = Buffer.from('stolen');
  const record = { key, value: Buffer.from('planted'), ms: 1, tie: 0 };
  const answers = await Promise.allSettled([
    caller.call(recordRead, { ...to, key }, 10_000),
    caller.call(recordWrite, { ...to, ...record }, 10_000),
    caller.call(tail, { ...to, rowsMax: 1 }, 10_000),
    caller.call(copyOpen, { ...to, assignment: null, device: 1 }, 10_000),
  ]);
  return answers.map((answer) => (answer.status === 'rejected' ? answer.reason.code : 'answered'));
}

const refused = (code: string): string[] => Array.from({ length: 4 }, () => code);

/**
 * Puts one record after another until the returned function is called. It resolves to the number of
 * acknowledged puts and the failures.
 */
function writing(cluster: Cluster): () => Promise<{ answered: number; failed: unknown[] }> {
  const failed: unknown[] = [];
  let [answered, goesOn] = [0, true];
  const work = (async () => {
    for (let at = 0; goesOn; at += 1) {
      const port = cluster.servers[at % 3]?.place.port ?? 0;
      const put = { method: 'PUT', path: `/v1/${keyspace}/key-${at % 50}`, body: `${at}` } as const;
      const { status, bytes } = await askServer(port, put);
      if (status === 204) answered += 1;
      else failed.push(`${status} ${String(bytes)}`);
    }
  })();
  return async () => {
    goesOn = false;
    await work;
    return { answered, failed };
  };
}

async function versionReached(cluster: Cluster, version: number): Promise<void> {
  await waitFor(`version ${version} to be everywhere`, {
    ask: () => Promise.all(cluster.servers.map((server) => server.status())),
    until: (all) => all.every(({ rings }) => rings[0]?.version === version),
  });
}

test('device keys are added under load; then unknown and revoked keys get nothing', async () => {
  const cluster = await clusterForTest({ servers: 4, partitions: 8 });
  const [first, , , last] = cluster.servers;
  if (first === undefined || last === undefined) throw new Error('no servers');
  await Promise.all(cluster.servers.map((server) => server.ready()));
  const plain = await callerAt(first, null);
  const answeredBefore = await asked(plain, 1);
  expect(answeredBefore).not.toContain('CALLER_UNPROVEN');

  const stop = writing(cluster);
  await cluster.quickly(['set-device', keyspace, 'all', '--ask-key']);
  await cluster.quickly(['commit', keyspace, '-m', 'keys']);
  await cluster.push();
  await versionReached(cluster, 2);
  await waitFor('every device to be connected to again', {
    ask: () => Promise.all(cluster.servers.map((server) => server.status())),
    until: (all) =>
      all.every(({ peers }) => peers.filter(({ connected }) => connected).length === 3),
  });
  const { answered, failed } = await stop();
  expect(failed).toEqual([]);
  expect(answered).toBeGreaterThan(0);
  // The operator has no device key and is answered nevertheless.
  await cluster.quickly(['reconcile', keyspace]);

  expect(await asked(plain, 1)).toEqual(refused('RING_STALE'));
  expect(await asked(plain, 2)).toEqual(refused('CALLER_UNPROVEN'));
  expect(await asked(await callerAt(first, newKey()), 2)).toEqual(refused('CALLER_UNPROVEN'));
  const ownKey = await keyOf(last);
  const asLast = await callerAt(first, ownKey);
  const answers = await asked(asLast, 2);
  expect(answers.slice(0, 3)).not.toContain('CALLER_UNPROVEN');
  // The caller has the key of d3 and claims to be d1.
  expect(answers[3]).toBe('CALLER_UNPROVEN');

  // Neither the tool nor a peer accepts a server whose key is not the one that the ring names.
  const wrongKey = spkiOf(newKey());
  await cluster.commit('set-device', 'd0', '--key', wrongKey);
  const { key } = await first.status();
  await expect(cluster.push()).rejects.toThrow(
    `proves the key ${keyIdOf(key)}, expected ${keyIdOf(wrongKey)}`,
  );
  await waitFor('d0 to be left alone', {
    ask: () => last.status(),
    until: ({ peers }) =>
      peers.some(({ address, connected }) => address === first.address && !connected),
  });
  await cluster.commit('set-device', 'd0', '--key', key);
  await cluster.push();

  await expect.poll(() => asLast.connected).toBe(true);
  await cluster.commit('set-device', 'd3', '--key', spkiOf(newKey()));
  await expect(cluster.push()).rejects.toThrow('proves the key');
  await expect.poll(() => asLast.connected, { timeout: 20_000 }).toBe(false);

  // Without keys every caller is believed as before: the final audit connects without a key.
  for (const id of cluster.servers.keys()) {
    await cluster.quickly(['set-device', keyspace, `d${id}`, '--key', 'none']);
  }
  await cluster.quickly(['commit', keyspace, '-m', 'no keys']);
  await cluster.push();
}, 120_000);

async function keyOf(server: ServerUnderTest): Promise<KeyObject> {
  return createPrivateKey(await fs.readFile(path.join(server.place.data, 'device-key.pem')));
}
