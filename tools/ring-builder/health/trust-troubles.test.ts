// Tests what health says of servers that are less protected than the folder and other servers
// require.
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readVersion } from '@ringwright/repository/folder/read-version';
import { expect, test } from 'vitest';
import { notePush } from '../../../test/support/note-push.ts';
import { ringBuilderHere } from '../../../test/support/ring-builder-here.ts';
import { wellOf } from '../../../test/support/ring-status.ts';
import { statusServer } from '../../../test/support/status-server.ts';

const open = { trust: null, demandsTls: false, insecure: false };
const guarded = { trust: [{ cluster: 'default', version: 1 }], demandsTls: true, insecure: false };
const exposed = { ...open, insecure: true };

interface Told {
  readonly troubles: readonly object[];
}

const unsigned = expect.objectContaining({
  ...{ kind: 'unsigned', command: 'ring-builder access sign' },
  why: 'access document 1 lacks 1 signature of trusted keys',
});

/** A signed ring on two servers, which report `said` as a part of their status. */
async function onTwoServers(said: [object, object]) {
  const passphrase = () => Promise.resolve('correct horse');
  const folder = await mkdtemp(join(tmpdir(), 'keys-'));
  const tool = await ringBuilderHere({ keys: { folder, name: null, passphrase } });
  await tool.json('create cities --partitions 8 --replicas 2');
  await tool.json('key generate ada');
  const statusOf = (id: number) => {
    const { ring, id: version } = head;
    const here = { version: 1, id: version };
    return { rings: [{ ...wellOf(ring, id), ...here, disk: here, epoch: 1 }], ...said[id] };
  };
  const servers = await Promise.all([0, 1].map((id) => statusServer(() => statusOf(id))));
  const addresses = servers.map(({ port }) => `127.0.0.1:${port}`);
  for (const address of addresses) await tool.json(`add cities r1z1-${address}/sdb 1`);
  await tool.json('commit cities -m first');
  const head = await readVersion(join(tool.folder, 'rings'), 'cities', 'head');
  await notePush(tool.folder);
  return { tool, addresses, said };
}

test('a certificate that is not valid yet is reported: clients refuse that server', async () => {
  const [starts, ends] = ['2999-01-01T00:00:00.000Z', '2999-02-01T00:00:00.000Z'];
  const early = { ...guarded, certificate: { names: 'DNS:a.example', starts, ends } };
  const { tool, addresses } = await onTwoServers([guarded, early]);
  const { exit, json } = await tool.answer('health');
  const why = `its certificate for DNS:a.example is not valid before ${starts}`;
  const trouble = { kind: 'certificate ends', address: addresses[1], why };
  expect({ exit, json }).toMatchObject({ exit: 1, json: { troubles: [trouble] } });
});

test('a server without the protection of the others is reported with how to start it', async () => {
  const { tool, addresses } = await onTwoServers([guarded, exposed]);
  const { exit, lines, json, next } = await tool.answer('health');
  const why =
    'it runs without --trust: anyone who can reach it may read, write and operate; ' +
    'it runs without --tls, which other servers require; it runs with --insecure-listen';
  const trouble = { kind: 'unprotected', address: addresses[1], why };
  expect({ exit, json }).toMatchObject({ exit: 1, json: { troubles: [trouble] } });
  expect(next).toBe('ring-builder key trust');
  expect(lines.at(-1)).toMatch(/^unprotected: restart that server .*ring-server --trust/);
  const told = await tool.answer('servers cities');
  expect(told.lines).toContain(`unprotected at ${addresses[1]}: ${why}`);
});

test('unprotected servers are no trouble before the first access grant', async () => {
  const { tool, said } = await onTwoServers([open, open]);
  expect(await tool.answer('health')).toMatchObject({ exit: 0, json: { troubles: [] } });
  said.fill(exposed);
  expect(await tool.answer('health')).toMatchObject({ exit: 0, json: { troubles: [] } });
  await tool.json('access grant ada --operator');
  const { exit, json } = await tool.answer('health');
  const kind = 'unprotected';
  expect({ exit, json }).toMatchObject({ exit: 1, json: { troubles: [{ kind }, { kind }] } });
});

test('an access document signed by a revoked key only is a trouble until re-signed', async () => {
  const { tool } = await onTwoServers([guarded, guarded]);
  await tool.json('access grant zoe --read cities');
  const bob = await tool.json<{ line: string }>('key generate bob --role ring');
  await tool.json(['key', 'trust', '--add', bob.line]);
  expect((await tool.json<Told>('health')).troubles).not.toContainEqual(unsigned);
  const revoked = await tool.answer('key revoke ada');
  expect(revoked.lines.join('\n')).toContain(
    'the access document lacks signatures now: ring-builder access sign adds one',
  );
  await tool.json('sign cities');
  const { exit, json } = await tool.answer('health');
  expect(exit).toBe(1);
  expect((json as Told).troubles).toContainEqual(unsigned);
  await tool.json('access sign');
  expect((await tool.json<Told>('health')).troubles).not.toContainEqual(unsigned);
});

test('a server that trusts a revoked key is a trouble until it has the new root', async () => {
  const { tool, said, addresses } = await onTwoServers([guarded, guarded]);
  const bob = await tool.json<{ line: string }>('key generate bob --role ring');
  const added = await tool.answer(['key', 'trust', '--add', bob.line]);
  expect(added.lines[0]).toContain(
    'is in force in this folder; servers keep using their current root',
  );
  expect(added.next).toBe('ring-builder push cities');
  await tool.json('key revoke bob');
  said[0] = { ...guarded, trust: [{ cluster: 'default', version: 3 }] };
  const { exit, json, next } = await tool.answer('health');
  const why = 'it uses root 1, but this folder has root 3';
  const behind = { kind: 'trust behind', address: addresses[1], why };
  expect({ exit, json }).toMatchObject({ exit: 1, json: { troubles: [behind] } });
  expect(next).toBe('ring-builder push cities');
  said[1] = said[0];
  expect(await tool.answer('health')).toMatchObject({ exit: 0, json: { troubles: [] } });
});
