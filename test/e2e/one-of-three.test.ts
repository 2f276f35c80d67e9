// One of three servers is dead or stopped: quorum requests continue without an error, and requests
// at `all` report why they fail.

import { waitFor } from '@ringwright/node/wait-for';
import { expect, test } from 'vitest';
import { askServer, refusalOf } from '../support/ask-server.ts';
import { clusterForTest, keyspace } from '../support/cluster.ts';
import { Traffic } from '../support/traffic.ts';

const path = `/v1/${keyspace}/asked-of-all?consistency=all`;

test.each([
  {
    state: 'dead',
    code: /PEER_UNREACHABLE|PEER_FAILED/,
    hurt: 'kill',
  },
  { state: 'stopped (SIGSTOP)', code: /PEER_TIMEOUT|PEER_UNREACHABLE/, hurt: 'pause' },
] as const)('quorum requests go on while one of three is $state', async ({ code, hurt }) => {
  const cluster = await clusterForTest({ servers: 3, partitions: 16 });
  const [first, second, third] = cluster.servers;
  const ports = [first!.place.port, third!.place.port];
  const before = await askServer(ports[0]!, { method: 'PUT', path, body: 'before' });
  expect(before.status).toBe(204);
  const expectRefused = async (method: 'PUT' | 'GET'): Promise<void> => {
    const body = method === 'PUT' ? { body: 'after' } : {};
    const answer = await askServer(ports[1]!, { method, path, ...body });
    expect(answer.status).toBe(503);
    const refusal = refusalOf(answer);
    expect(refusal.code).toBe('NOT_ENOUGH_REPLICAS');
    expect(refusal.message).toMatch(/[0-2] of 3 slots acknowledged, 3 are needed/);
    expect(refusal.details).toMatchObject({ slots: 3, needed: 3 });
    expect(JSON.stringify(refusal.details.devices)).toMatch(code);
    if (method === 'PUT') expect(refusal.details.outcome).toBe('unknown');
  };
  await second![hurt]();
  const traffic = new Traffic({ keyspace, ports: () => ports, seed: hurt.length });
  await traffic.within(hurt, async () => {
    await traffic.goesOn(80);
    await Promise.all([expectRefused('PUT'), expectRefused('GET')]);
    await traffic.goesOn(80);
  });
  expect(await traffic.verdict(80)).toEqual([]);
  expect(traffic.failures()).toEqual([]);
  if (hurt === 'kill') await cluster.restart(second!);
  else second!.resume();
  await waitFor('a read at all to be answered again', {
    ask: async () => (await askServer(ports[0]!, { path })).status,
    until: (status) => status === 200,
  });
});
