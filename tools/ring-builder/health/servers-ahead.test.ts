// Tests that beacon and settle, which declare a version as the newest or the right one, detect a
// folder that is behind its servers.
import { join } from 'node:path';
import { readVersion } from '@ringwright/repository/folder/read-version';
import { expect, test } from 'vitest';
import { ringBuilderHere } from '../../../test/support/ring-builder-here.ts';
import { wellOf } from '../../../test/support/ring-status.ts';
import { statusServer } from '../../../test/support/status-server.ts';

/** A folder with version 1 of a signed ring, and two servers that report these versions. */
async function behind(versions: readonly [number, number]) {
  const tool = await ringBuilderHere();
  let upgrades = 0;
  const ports: number[] = [];
  for (const [device, version] of versions.entries()) {
    const { port, server } = await statusServer(() => ({
      rings: [{ ...wellOf(head.ring, device), version }],
    }));
    server.on('upgrade', (_, socket) => {
      upgrades += 1;
      socket.destroy();
    });
    ports.push(port);
  }
  await tool.json('create cities --partitions 8 --replicas 1 --key-folder keys');
  for (const port of ports) await tool.json(`add cities r1z1-127.0.0.1:${port}/a 1`);
  await tool.json('commit cities -m first');
  const head = await readVersion(join(tool.folder, 'rings'), 'cities', 'head');
  return { tool, ports, upgrades: () => upgrades };
}

test('beacon warns that servers have newer versions and names the restore command', async () => {
  const { tool, ports } = await behind([4, 5]);
  const [lower, highest] = ports.map((port) => `127.0.0.1:${port}`);
  const { json, lines, next } = await tool.answer('beacon cities');
  expect(json).toMatchObject({
    version: 1,
    ahead: [
      { address: highest, devices: [1], version: 5 },
      { address: lower, devices: [0], version: 4 },
    ],
  });
  expect(lines.at(-1)).toMatch(
    /^the head here is version 1, 2 servers have up to version 5: the servers have versions .*git pull/,
  );
  expect(next).toBe(`ring-builder restore cities --from ${highest} --replace`);
});

test('settle is refused, even with --yes, before it is sent to any server', async () => {
  const { tool, ports, upgrades } = await behind([1, 3]);
  for (const command of ['settle cities -m ours', 'settle cities -m ours --yes']) {
    const error: unknown = await tool.answer(command).catch((thrown: unknown) => thrown);
    expect(error, command).toMatchObject({
      code: 'RING_OLDER',
      message:
        'the head here is version 1, 1 server has up to version 3: servers never go back to a lower version',
      details: { version: 1, ahead: [{ address: `127.0.0.1:${ports[1]}`, version: 3 }] },
    });
    expect(error, command).toMatchObject({
      hint: expect.stringMatching(/git pull.*2 versions are missing.*until there is a version 3/),
    });
  }
  expect(upgrades()).toBe(0);
});

test('a folder that is not behind gets no warning', async () => {
  const { tool } = await behind([1, 1]);
  const { json, lines, next } = await tool.answer('beacon cities');
  expect([json, next]).toMatchObject([{ ahead: [] }, 'ring-builder servers cities']);
  expect(lines.join('\n')).not.toContain('older');
  expect(await tool.refusal('settle cities -m ours')).toMatchObject({
    code: 'CONFIRMATION_NEEDED',
  });
});
