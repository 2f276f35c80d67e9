// Copies and repair use another network if the ring names one: nothing is copied while that network
// is cut, although all servers answer requests. Files travel from process to process there.
import { randomBytes } from 'node:crypto';
import { freePorts } from '@ringwright/node/free-ports';
import { waitFor } from '@ringwright/node/wait-for';
import { expect, onTestFinished, test } from 'vitest';
import { askServer } from '../support/ask-server.ts';
import { clusterForTest, keyspace } from '../support/cluster.ts';
import { copyProxy } from '../support/copy-proxy.ts';

/** A loopback address of its own, as a second network card would have. */
const network = '127.0.0.2';

test('a joiner copies from the replication address and from nowhere else', async () => {
  const [inner = 0, copies = 0] = await freePorts(2);
  const proxy = await copyProxy(() => inner, network);
  onTestFinished(() => proxy[Symbol.asyncDispose]());
  proxy.pass = () => 'cut';
  const listening = ['--replication-listen', `127.0.0.1:${inner}`];
  const cluster = await clusterForTest({
    ...{ servers: 1, replicas: 1, partitions: 4 },
    extra: ({ servers: { length } }) =>
      length === 1 ? [...listening, '--copy-listen', `${network}:${copies}`] : [],
  });
  const { builder } = cluster;
  const [port = 0] = cluster.ports();
  for (let at = 0; at < 40; at += 1) {
    const body = randomBytes(50_000);
    await askServer(port, { method: 'PUT', path: `/v1/${keyspace}/k${at}`, body });
  }
  const joiner = await cluster.addServer();
  const address = `${network}:${proxy.port}`;
  await builder.json(`set-device ${keyspace} d0 --replication-address ${address}`);
  // The device also proves its key at this address.
  await builder.json(`set-device ${keyspace} d0 --ask-key`);
  await cluster.commit('add', joiner.text, '1', '--ask-key');
  await cluster.push();
  const rollout = builder.json<{ copied: { bytes: number } }>(['rollout', keyspace]);
  const loads = await waitFor('the joiner to have failed', {
    ask: async () => (await joiner.status()).rings[0]?.loads ?? [],
    until: (all) => all.some(({ stage }) => stage === 'failed'),
  });
  expect(loads.filter(({ bytes, copiesVerified }) => bytes + copiesVerified > 0)).toEqual([]);
  let passedBytes = 0;
  proxy.pass = (bytes) => {
    passedBytes += bytes.length;
    return bytes;
  };
  const { copied } = await rollout;
  // The calls about copies used the proxy, and the files went from process to process beside it.
  expect(copied.bytes).toBeGreaterThan(500_000);
  expect(passedBytes).toBeGreaterThan(0);
  expect(passedBytes).toBeLessThan(copied.bytes / 2);
});
