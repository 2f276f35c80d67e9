// Client certificates instead of tokens: what their roles grant, and whose certificates do not
// count.
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { connect } from '@ringwright/client/connect';
import { freePorts } from '@ringwright/node/free-ports';
import { waitFor } from '@ringwright/node/wait-for';
import { expect, onTestFinished, test } from 'vitest';
import { ringBuilderHere } from '../support/ring-builder-here.ts';
import { ringBuilderIn } from '../support/ring-builder-program.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { ServerUnderTest } from '../support/server-under-test.ts';

const dayMs = 86_400_000;
const secret = 'of the authority';

test('a certificate grants its roles until it expires; a foreign one grants nothing', async () => {
  const folder = await scratchFolder();
  const passphrase = path.join(folder.path, 'passphrase');
  await writeFile(passphrase, `${secret}\n`, { mode: 0o600 });
  const tool = await ringBuilderIn();
  const certs = (owner: string, ...words: string[]) => {
    const at = ['--certs', path.join(folder.path, owner), '--key-folder', `${folder.path}/keys`];
    return tool.json(['certs', ...words, ...at, '--passphrase-file', passphrase]);
  };
  const toolAgo = (days: number) =>
    ringBuilderHere({
      nowMs: () => Date.now() - days * dayMs,
      keys: {
        folder: path.join(folder.path, 'keys'),
        name: null,
        passphrase: () => Promise.resolve(secret),
      },
    });
  const aYearAgo = await toolAgo(400);
  const inOurs = ['--certs', path.join(folder.path, 'ours')];
  await aYearAgo.json(['certs', 'init', '127.0.0.1', ...inOurs]);
  await aYearAgo.json(['certs', 'issue', 'old', '--role', 'operator', ...inOurs]);
  await certs('ours', 'rotate', '127.0.0.1');
  await certs('ours', 'issue', 'ada', '--role', 'operator', '--role', 'metrics');
  await certs('ours', 'issue', 'app', '--role', 'read:notes/pub', '--role', 'write:notes/pub');
  await certs('theirs', 'init', '127.0.0.1');
  await certs('theirs', 'issue', 'eve', '--role', 'operator');
  const pem = (owner: string, name: string) => path.join(folder.path, owner, `${name}.pem`);

  const [port = 0] = await freePorts(1);
  const data = path.join(folder.path, 'sd1');
  const server = new ServerUnderTest({ device: 'sd1', zone: 1, port, data });
  onTestFinished(async () => {
    await server.kill();
    await folder[Symbol.asyncDispose]();
  });
  const authority = pem('ours', 'authority');
  const clientCa = path.join(folder.path, 'clients.pem');
  await copyFile(authority, clientCa);
  server.spawn(['--tls', pem('ours', '127.0.0.1'), '--client-ca', clientCa]);
  await waitFor('it to listen', {
    ask: () => Promise.resolve(server.logText()),
    until: (log) => log.includes('"listening"'),
  });

  await tool.json('create notes --partitions 4 --replicas 1');
  await tool.json(['add', 'notes', `r1z1-127.0.0.1:${port}/sd1`, '1']);
  await tool.json('commit notes -m first');
  const push = async (bundle: string | null) => {
    const shown = bundle === null ? [] : ['--client-cert', bundle];
    const { exit, document } = await tool.answer<{
      servers: [{ code?: string; message?: string }];
    }>(['push', 'notes', '--ca', authority, ...shown]);
    const [{ code = 'accepted', message = '' }] = document.servers;
    return { exit, code, message };
  };
  expect(await push(null)).toMatchObject({ exit: 5, code: 'TOKEN_MISSING' });
  expect(await push(pem('theirs', 'eve'))).toMatchObject({ code: 'TOKEN_MISSING' });
  expect(await push(pem('ours', '127.0.0.1'))).toMatchObject({ code: 'TOKEN_MISSING' });
  const app = await push(pem('ours', 'app'));
  expect(app).toMatchObject({ code: 'PERMISSION_MISSING' });
  expect(app.message).toContain('the certificate app may not do this: it needs');
  const old = await push(pem('ours', 'old'));
  expect(old).toMatchObject({ code: 'TOKEN_REFUSED' });
  expect(old.message).toContain('the certificate old expired at');
  expect(await push(pem('ours', 'ada'))).toMatchObject({ exit: 0, code: 'accepted' });

  const health = async () => {
    const asAda = ['--ca', authority, '--client-cert', pem('ours', 'ada')];
    const { document } = await tool.answer<{
      troubles: { kind: string; why: string; command: string }[];
    }>(['health', 'notes', ...asAda]);
    return document.troubles;
  };
  expect(await health()).toEqual([]);
  await (await toolAgo(345)).json(['certs', 'rotate', '127.0.0.1', ...inOurs]);
  const [ending] = await waitFor('the certificate that ends soon to be shown', {
    ask: health,
    until: ([first]) => first?.kind === 'certificate ends',
  });
  expect(ending).toMatchObject({ address: `127.0.0.1:${port}` });
  expect(ending?.why).toMatch(/^its certificate for IP Address:127\.0\.0\.1 ends on 20/);

  const bundle = await readFile(pem('ours', 'app'), 'utf8');
  const identity = { key: bundle, cert: bundle.slice(bundle.indexOf('-----BEGIN CERT')) };
  const ca = await readFile(authority, 'utf8');
  await using client = await connect([`127.0.0.1:${port}`], { keyspace: 'notes', ca, identity });
  await client.put('pub-1', 'mine');
  expect(String((await client.get('pub-1'))?.value)).toBe('mine');
  await expect(client.put('private', 'x')).rejects.toMatchObject({ code: 'PERMISSION_MISSING' });
  await expect(
    connect([`127.0.0.1:${port}`], { keyspace: 'notes', ca, timeoutMs: 5_000 }),
  ).rejects.toMatchObject({ code: 'TOKEN_MISSING' });

  await copyFile(pem('theirs', 'authority'), clientCa);
  await waitFor('the other authority to count', {
    ask: () => push(pem('theirs', 'eve')),
    until: ({ code }) => code === 'accepted',
  });
  expect(await push(pem('ours', 'ada'))).toMatchObject({ code: 'TOKEN_MISSING' });
  // This also applies to a connection that was opened before.
  await expect(client.put('pub-2', 'x')).rejects.toMatchObject({ code: 'TOKEN_MISSING' });
});
