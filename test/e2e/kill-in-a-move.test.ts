// Kills a server (SIGKILL) in each step of a move, under load. The real tool leads to the step, the
// victim dies in it and restarts, and the rollout is repeated. All cases share one cluster, so a
// victim may have died before and still has what that left behind.
import type { Ring } from '@ringwright/ring/ring';
import { slotsOf } from '@ringwright/ring/slots-of';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Cluster, endCluster, keyspace, startCluster } from '../support/cluster.ts';
import { killRolloutAt } from '../support/killed-rollout.ts';
import type { ServerUnderTest } from '../support/server-under-test.ts';
import { Traffic } from '../support/traffic.ts';

type Role = 'source' | 'joiner' | 'bystander';

/** Number of versions between the commit (moves PROPOSED) and the step. */
const steps = [
  { step: 'PROPOSED', versions: 0 },
  { step: 'INITIALIZING', versions: 1 },
  { step: 'finalized, not yet dropped', versions: 2 },
] as const;

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster({ servers: 4, partitions: 8 });
});
afterAll(() => endCluster(cluster));

/** Commits a separate ring change for each step, so that there are moves each time. */
async function change(number: number): Promise<Ring> {
  if (number === 0) return cluster.commit('add', (await cluster.addServer()).text, '1');
  return cluster.commit('set-weight', 'd0', number % 2 === 0 ? '1' : '0.5');
}

function victimOf(ring: Ring, role: Role): ServerUnderTest {
  const [move] = ring.moves;
  if (move === undefined || move.from === null)
    throw new Error(`version ${ring.version} has no moves`);
  const { from, to, partition } = move;
  const holders = slotsOf(ring, partition).map(({ device }) => device);
  const bystander = holders.find((device) => device !== from && device !== to) ?? from;
  return cluster.serverOf(ring, { source: from, joiner: to, bystander }[role]);
}

const roles: readonly Role[] = ['source', 'joiner', 'bystander'];

test.each(roles)('moves complete although their %s is killed in each step', async (role) => {
  // Each case has its own seed and thus its own keys: the traffic of one case does not know the
  // history of another's keys.
  const seed = 6 + roles.indexOf(role);
  const traffic = new Traffic({ keyspace, ports: () => cluster.ports(), seed });
  await traffic.goesOn();
  for (const [index, { step, versions }] of steps.entries()) {
    const proposed = await change(roles.indexOf(role) * steps.length + index);
    expect(proposed.moves.map(({ state }) => state)).toContain('PROPOSED');
    await cluster.push();
    const victim = victimOf(proposed, role);
    const wanted = proposed.version + versions;
    if (versions > 0) await killRolloutAt(cluster, cluster.committed(wanted));
    await traffic.within(`${role} dies: ${step}`, async () => {
      await victim.kill();
      // The other servers learn of the step, and the tool reports that one server did not.
      const push = await cluster.builder.run(['push', keyspace]);
      expect(push.exit, push.stderr).toBe(4);
      await traffic.goesOn();
    });
    await cluster.restart(victim);
    const { left, version } = await cluster.builder.json(['rollout', keyspace]);
    expect({ left, version }).toEqual({ left: [], version: proposed.version + 2 });
    expect((await cluster.head()).moves).toEqual([]);
  }
  expect(await traffic.verdict()).toEqual([]);
});
