// Servers that accept only TLS, with certificate bundles: which callers are accepted on which port,
// and bundles that are replaced while requests run.
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs/promises';
import path from 'node:path';
import { connect as connectTls } from 'node:tls';
import { connect } from '@ringwright/client/connect';
import { freePorts } from '@ringwright/node/free-ports';
import { getHttp } from '@ringwright/node/link/get-http';
import { keyIdOf as certificateKeyId, type ServerProof } from '@ringwright/node/link/prove-server';
import { waitFor } from '@ringwright/node/wait-for';
import { expect, onTestFinished, test } from 'vitest';
import { askServer } from '../support/ask-server.ts';
import { makeCertificates, opensslHere } from '../support/certificates.ts';
import { ringBuilderHere } from '../support/ring-builder-here.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { ServerUnderTest } from '../support/server-under-test.ts';

interface Bundle {
  readonly ca: string;
  /** Private key and certificate. */
  readonly pem: string;
  readonly fingerprint: string;
}

async function newBundle(folder: string): Promise<Bundle> {
  await fs.mkdir(folder);
  const made = await makeCertificates(folder);
  const [ca, cert, key] = await Promise.all(
    [made.ca, made.cert, made.key].map((file) => fs.readFile(file, 'utf8')),
  );
  const fingerprint = certificateKeyId(new X509Certificate(cert ?? ''));
  return { ca: ca ?? '', pem: `${key}${cert}`, fingerprint };
}

const byAuthority = (ca: string): ServerProof => ({ by: 'authority', ca });

async function replace(file: string, content: string): Promise<void> {
  await fs.writeFile(`${file}.new`, content, { mode: 0o600 });
  await fs.rename(`${file}.new`, file);
}

test.skipIf(!opensslHere)(
  'TLS servers serve tool, client, HTTP and Redis while their bundle is replaced',
  async () => {
    const folder = await scratchFolder();
    const bundles = [
      await newBundle(path.join(folder.path, 'one')),
      await newBundle(path.join(folder.path, 'two')),
    ] as const;
    const file = path.join(folder.path, 'bundle.pem');
    await replace(file, bundles[0].pem);
    const [first = 0, second = 0, third = 0, redis = 0] = await freePorts(4);
    const servers = [first, second].map((port, at) => {
      const device = `sd${at + 1}`;
      const data = path.join(folder.path, device);
      return new ServerUnderTest({ device, zone: at + 1, port, data });
    });
    onTestFinished(async () => {
      await Promise.all(servers.map((server) => server.kill()));
      await folder[Symbol.asyncDispose]();
    });
    for (const [at, server] of servers.entries()) {
      server.spawn(['--tls', file, ...(at === 0 ? ['--redis-port', `${redis}`] : [])]);
      await waitFor('it to listen', {
        ask: () => Promise.resolve(server.logText()),
        until: (log) => log.includes('"listening"'),
      });
    }
    const address = `127.0.0.1:${first}`;

    const rings = path.join(folder.path, 'rings');
    const builder = await ringBuilderHere({ rings, nowMs: Date.now });
    await builder.answer('create notes --partitions 4 --replicas 2 --min-part-hours 0');
    const devices = servers.flatMap(({ text }) => [text, '1']);
    const added = await builder.answer(['add', 'notes', ...devices, '--ask-key']);
    expect(added.lines.join('\n')).toMatch(/has key [0-9a-f]{64}/);
    await builder.answer(['commit', 'notes', '-m', 'two']);
    expect((await builder.answer('push notes')).exit ?? 0).toBe(0);

    // A server about to join is compared with what was typed, although no ring has its key yet.
    const late = new ServerUnderTest({
      ...{ device: 'sd3', zone: 3, port: third, data: path.join(folder.path, 'sd3') },
    });
    onTestFinished(() => late.kill());
    late.spawn(['--tls', file]);
    await waitFor('it to listen', {
      ask: () => Promise.resolve(late.logText()),
      until: (log) => log.includes('"listening"'),
    });
    const wrongName = builder.answer([
      'add',
      'notes',
      late.text.replace('sd3', 'sdx'),
      '1',
      '--ask-key',
    ]);
    await expect(wrongName).rejects.toMatchObject({ code: 'NEWCOMER_UNFIT' });
    const named = await builder.text(['add', 'notes', late.text, '1', '--ask-key']);
    expect(named).toContain('1 of 1 new server answered');
    await builder.answer('unstage notes');

    const [{ ca, fingerprint }, next] = bundles;
    await using byCa = await connect([address], { keyspace: 'notes', ca });
    // Repeated, because the servers received the ring only a moment ago.
    const put = () => byCa.put('shopping', 'milk').then(() => 'stored', String);
    await expect.poll(put, { timeout: 20_000 }).toBe('stored');
    await using byKey = await connect([address], { keyspace: 'notes', fingerprint });
    expect(Buffer.from((await byKey.get('shopping'))?.value ?? []).toString()).toBe('milk');
    // Commands know the keys from the ring and need no certificate authority.
    const archive = path.join(folder.path, 'archive');
    const archived = await builder.answer(['archive-data', 'notes', '--to', archive]);
    expect(archived.json).toMatchObject({ records: 1 });
    const restored = await builder.answer(['restore-data', 'notes', '--from', archive]);
    expect(restored.json).toMatchObject({ written: 0, kept: 1 });
    const wrong = connect([address], { keyspace: 'notes', fingerprint: next.fingerprint });
    await expect(wrong).rejects.toThrow(
      `${address} proves the key ${fingerprint}, expected ${next.fingerprint}`,
    );
    const stranger = connect([address], { keyspace: 'notes', ca: next.ca });
    await expect(stranger).rejects.toMatchObject({ code: 'PEER_UNPROVEN' });
    await expect(connect([address], { keyspace: 'notes' })).rejects.toMatchObject({
      code: 'PEER_UNREACHABLE',
    });
    await expect(askServer(first, { path: '/v1/notes/shopping' })).rejects.toThrow();

    const socket = connectTls({ port: redis, host: '127.0.0.1', ca });
    onTestFinished(() => void socket.destroy());
    await once(socket, 'secureConnect');
    socket.write('GET shopping\r\n');
    expect(String((await once(socket, 'data'))[0])).toBe('$4\r\nmilk\r\n');

    // Each request uses a new connection and accepts either authority.
    let [answered, goesOn] = [0, true];
    const failed: unknown[] = [];
    const load = (async () => {
      while (goesOn) {
        const authorities = byAuthority(ca + next.ca);
        const asked = getHttp(address, '/v1/notes/shopping', {
          proof: authorities,
          timeoutMs: 10_000,
        });
        await asked.then(
          ({ body }) => {
            if (body === 'milk') answered += 1;
            else failed.push(body);
          },
          (error: unknown) => void failed.push(error),
        );
      }
    })();
    await replace(file, 'half a bundle');
    await waitFor('the log to say what was refused', {
      ask: () => Promise.resolve(servers[0]?.logText() ?? ''),
      until: (log) => log.includes('the previous certificate stays in use'),
    });
    expect((await ask(address, ca)).status).toBe(200);
    await replace(file, next.pem);
    await waitFor('the new certificate', {
      ask: () =>
        ask(address, next.ca).then(
          ({ status }) => status,
          () => null,
        ),
      until: (status) => status === 200,
    });
    goesOn = false;
    await load;
    expect([failed, answered > 0]).toEqual([[], true]);
    await expect(ask(address, ca)).rejects.toMatchObject({ code: 'PEER_UNPROVEN' });
    // A connection that was opened before stays usable.
    socket.write('GET shopping\r\n');
    expect(String((await once(socket, 'data'))[0])).toBe('$4\r\nmilk\r\n');
    await byCa.put('shopping', 'butter');
  },
  120_000,
);

const ask = (address: string, ca: string) =>
  getHttp(address, '/healthz', { proof: byAuthority(ca), timeoutMs: 10_000 });
