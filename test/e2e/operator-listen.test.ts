// Operators have an address of their own: requests that need their role are refused everywhere
// else, and the tool finds the address.
import fs from 'node:fs/promises';
import path from 'node:path';
import { freePorts } from '@ringwright/node/free-ports';
import { getHttp } from '@ringwright/node/link/get-http';
import { waitFor } from '@ringwright/node/wait-for';
import { keyIdOf } from '@ringwright/ring/trust/public-key';
import { expect, onTestFinished, test } from 'vitest';
import { ringBuilderIn } from '../support/ring-builder-program.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { ServerUnderTest } from '../support/server-under-test.ts';

test.each([
  ['plain', []],
  ['TLS', ['--tls', 'own']],
])('%s: only --operator-listen answers operators', async (_, tls) => {
  const folder = await scratchFolder();
  const tokenFile = path.join(folder.path, 'ada.token');
  const environment = {
    RING_BUILDER_KEYS: path.join(folder.path, 'keys'),
    RING_BUILDER_PASSPHRASE: 'correct horse',
  };
  const first = await ringBuilderIn(folder.path, environment);
  await first.json('key generate ada');
  await first.json('create notes --partitions 4 --replicas 1 --min-part-hours 0');
  const ofPeers = path.join(folder.path, 'peer.token');
  await first.json(`access grant servers --peer --out ${ofPeers}`);
  await first.json(`access grant ada --operator --out ${tokenFile}`);
  await first.json(`access grant eve --metrics --out ${tokenFile}.eve`);
  const tool = await ringBuilderIn(folder.path, {
    ...environment,
    RING_BUILDER_TOKEN_FILE: tokenFile,
  });
  const [port = 0, operatorPort = 0] = await freePorts(2);
  const data = path.join(folder.path, 'sd1');
  const server = new ServerUnderTest({ device: 'sd1', zone: 1, port, data });
  onTestFinished(async () => {
    await server.kill();
    await folder[Symbol.asyncDispose]();
  });
  const trust = path.join(folder.path, 'rings', 'trust.json');
  const access = ['--trust', trust, '--token-file', ofPeers];
  const elsewhere = `127.0.0.1:${operatorPort}`;
  server.spawn([...access, ...tls, '--operator-listen', elsewhere]);
  await waitFor('it to listen', {
    deadlineMs: 10_000,
    ask: () => Promise.resolve(server.logText()),
    until: (log) => log.includes('"listening"'),
  });

  // The ring names the ordinary address, which refers the tool to the operators' address.
  expect(await tool.run(['add', 'notes', server.text, '1', '--ask-key'])).toMatchObject({
    exit: 0,
  });
  expect(await tool.run('commit notes -m first')).toMatchObject({ exit: 0 });
  expect(await tool.run('push notes')).toMatchObject({ exit: 0 });
  expect(await tool.run('moves notes rate 1MB')).toMatchObject({ exit: 0 });
  expect(await tool.run('health')).toMatchObject({ exit: 0 });

  const [token, eve] = await Promise.all(
    [tokenFile, `${tokenFile}.eve`].map(async (file) => (await fs.readFile(file, 'utf8')).trim()),
  );
  const { key } = (await tool.json<{ devices: { key: string }[] }>('show notes')).devices[0] ?? {};
  const proof =
    tls.length === 0 ? null : { by: 'device' as const, keys: new Set([keyIdOf(key ?? '')]) };
  const codeAt = async (at: number, shown: string | undefined, resource: string) => {
    const asking = { proof, timeoutMs: 10_000, token: shown ?? null };
    const { status, body } = await getHttp(`127.0.0.1:${at}`, resource, asking);
    return status === 200 ? 200 : (JSON.parse(body) as { code: string }).code;
  };
  expect(await codeAt(port, token, '/v1/_inspect/')).toBe('OPERATOR_ELSEWHERE');
  expect(await codeAt(operatorPort, token, '/v1/_inspect/')).toBe(200);
  expect(await codeAt(operatorPort, eve, '/v1/_inspect/')).toBe('PERMISSION_MISSING');
  expect(await codeAt(port, eve, '/v1/_inspect/'), 'nothing is told').toBe('PERMISSION_MISSING');
  // Requests that only read the status are answered at both addresses.
  expect(await codeAt(port, token, '/v1/status')).toBe(200);
  expect(await codeAt(operatorPort, eve, '/v1/status')).toBe(200);
  expect(await tool.run('verify notes')).toMatchObject({ exit: 0 });
});
