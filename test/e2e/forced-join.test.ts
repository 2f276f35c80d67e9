// Two of three holders are lost: a move that cannot be proved is forced with a reason. The reason
// stays in the receipt and in the log, and holds back the next change.

import { waitFor } from '@ringwright/node/wait-for';
import { expect, test } from 'vitest';
import { askServer } from '../support/ask-server.ts';
import { clusterForTest, keyspace } from '../support/cluster.ts';

test('a forced join needs a reason, is logged, and holds back the next change', {
  timeout: 240_000,
}, async () => {
  const cluster = await clusterForTest({ servers: 3, partitions: 8 });
  const { builder } = cluster;
  for (let index = 0; index < 40; index += 1) {
    const path = `/v1/${keyspace}/kept/${index}`;
    const port = cluster.ports()[index % 3]!;
    expect((await askServer(port, { method: 'PUT', path, body: 'kept' })).status).toBe(204);
  }
  const joiner = await cluster.addServer();
  const ring = await cluster.commit('add', joiner.text, '1');
  await cluster.push();
  const gone = [0, 1].map((device) => cluster.serverOf(ring, device));
  for (const server of gone) await server.kill();
  const stuck = ring.moves.filter(({ from }) => from === 0 || from === 1);
  const partitions = stuck.map(({ partition }) => String(partition));
  // Long enough for the audit processes to start on a busy machine.
  const args = ['rollout', keyspace, '--json', '--skip-down', '--stall-timeout', '8'];
  const stalled = await builder.run(args);
  expect(stalled.exit).toBe(4);
  expect(stalled.stderr).toContain('ROLLOUT_STALLED');
  expect(stalled.stderr).toContain('1 of the 2 complete files needed');
  // The other moves of the wave did not wait for the stuck ones.
  const inFlight = (await cluster.head()).moves.map(({ assignment }) => assignment);
  expect(inFlight).toEqual(stuck.map(({ assignment }) => assignment));

  // Each command suggests the force, but first a look at the moves: the machines may come back.
  const list = `ring-builder moves ${keyspace} list`;
  const told = expect.stringMatching(`moves ${keyspace} force .* --reason TEXT`);
  for (const looking of [
    ['health', keyspace],
    ['status', keyspace],
    ['why', keyspace, partitions[0]!],
  ]) {
    const { stdout } = await builder.run(looking);
    expect(stdout, looking[0]).toEqual(told);
    // health shows partitions that are not ready first, so its `Next` is another command.
    const next = looking[0] === 'health' ? list : `Next: ${list}`;
    expect(stdout, looking[0]).toContain(next);
  }

  const force = ['moves', keyspace, 'force', ...partitions, '--json'];
  expect((await builder.run(force)).exit, 'without a reason').toBe(2);
  const reason = ['--reason', 'both machines burnt'];
  expect((await builder.run([...force, ...reason])).exit, 'without --yes').toBe(5);
  const forced = await builder.run([...force, ...reason, '--yes']);
  expect(JSON.parse(forced.stdout), forced.stderr).toMatchObject({ known: stuck.length });
  const rollout = await builder.run(args);
  expect(JSON.parse(rollout.stdout), rollout.stderr).toMatchObject({
    ...{ moved: stuck.length, end: 'drains' },
  });
  // The joiner has all records of the other partitions, but quorums of the old ring may still
  // exist: those moves wait.
  await waitFor('the joiner to serve what was forced', {
    ask: async () => (await joiner.status()).rings[0],
    until: (one) => one?.serving === stuck.length,
  });

  const { receipts } = await builder.json<{ receipts: object }>(['verify', keyspace]);
  expect(receipts).toMatchObject({ moves: ring.moves.length, forced: stuck.length });
  const { forced: flagged } = await builder.json<{ forced: object[] }>(['status', keyspace]);
  expect(flagged).toHaveLength(stuck.length);
  await builder.json(['set-weight', keyspace, 'd3', '0']);
  const next = ['commit', keyspace, '-m', 'away from it', '--json'];
  const refused = await builder.run(next);
  expect(JSON.parse(refused.stderr)).toMatchObject({ code: 'RECEIPTS_MISSING' });
  expect(refused.stderr).toContain('both machines burnt');

  // The lost machines come back after all: their records reach the other holders, and nothing was
  // lost.
  for (const server of gone) await cluster.restart(server);
  const back = await builder.run([...next, '--unproved', 'the machines are back']);
  expect(back.exit, back.stderr).toBe(0);
  expect(await builder.json(['rollout', keyspace])).toMatchObject({ end: 'done', left: [] });
  for (let index = 0; index < 40; index += 1) {
    const path = `/v1/${keyspace}/kept/${index}?consistency=all`;
    expect((await askServer(gone[0]!.place.port, { path })).bytes.toString()).toBe('kept');
  }
});
