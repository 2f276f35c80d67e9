// Links over TLS on real sockets: who proves what, and what the error says about a wrong proof.
import { createPublicKey, generateKeyPairSync, type KeyObject, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net';
import { type ConnectionOptions, connect as connectTls, TLSSocket } from 'node:tls';
import { silentConnectionsMax } from '@ringwright/base/limits-rings';
import { messageKind } from '@ringwright/wire/message';
import { expect, onTestFinished, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { z } from 'zod';
import { deviceCertificate, deviceIdentity } from './device-certificate.ts';
import { getHttp } from './get-http.ts';
import { Link, type LinkPorts } from './link.ts';
import { askDeviceKey, keyIdOf, type ServerProof, type TlsIdentity } from './prove-server.ts';
import { type SecurePort, type SecurePortOptions, securePort } from './secure-port.ts';
import { socketChannel } from './socket-channel.ts';

const newKey = (): KeyObject => generateKeyPairSync('ed25519').privateKey;

const idOf = ({ cert }: TlsIdentity): string => keyIdOf(new X509Certificate(cert));
const spkiText = ({ cert }: TlsIdentity): string => {
  const { publicKey } = new X509Certificate(cert);
  return publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
};
const double = messageKind({ method: 'double', request: z.int(), answer: z.int() });

interface Listening {
  readonly port: number;
  readonly secure: SecurePort;
  readonly http: Server;
  /** Ids of the keys that callers presented. */
  readonly shown: (string | null)[];
  readonly refused: string[];
  readonly sockets: ReadonlySet<WebSocket>;
}

const device = deviceIdentity(newKey());
const bundle = deviceIdentity(newKey());

/** Starts a server that doubles numbers over WebSockets and returns the path over HTTP. */
async function listening(options: Partial<SecurePortOptions> = {}): Promise<Listening> {
  const http = createServer((request, answer) => void answer.end(request.url));
  const webSockets = new WebSocketServer({ noServer: true });
  const shown: (string | null)[] = [];
  const refused: string[] = [];
  const handlers = new Map([
    ['double', { request: z.int(), answer: (number: unknown) => Number(number) * 2 }],
  ]);
  http.on('upgrade', (request, socket, head) => {
    const certificate = socket instanceof TLSSocket ? socket.getPeerX509Certificate() : undefined;
    shown.push(certificate === undefined ? null : keyIdOf(certificate));
    webSockets.handleUpgrade(request, socket, head, (one) => {
      socketChannel(one, { peer: 'the client' }, { handlers });
    });
  });
  const onRefused = (_from: string, reason: string): void => void refused.push(reason);
  const ports = { device, identity: bundle, servesPlain: true, onRefused, ...options };
  const secure = securePort(http, ports);
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  onTestFinished(() => {
    http.close();
    secure.close();
  });
  const { port } = http.address() as AddressInfo;
  return { port, secure, http, shown, refused, sockets: webSockets.clients };
}

function linkTo(port: number, proof: ServerProof | null, ports: Partial<LinkPorts> = {}): Link {
  const link = new Link(`127.0.0.1:${port}`, {
    handlers: new Map(),
    monotonicMs: () => performance.now(),
    connectTimeoutMs: 10_000,
    greet: () => Promise.resolve(),
    proofOf: () => proof,
    ...ports,
  });
  onTestFinished(() => link.close());
  return link;
}

const byDevice: ServerProof = { by: 'device', keys: new Set([idOf(device)]) };

test('the certificate of a key depends on the key alone, verifies, and does not expire', () => {
  const key = newKey();
  const certificate = new X509Certificate(deviceCertificate(key));
  expect(deviceCertificate(key)).toBe(deviceCertificate(key));
  expect(certificate.publicKey.equals(createPublicKey(key))).toBe(true);
  expect(certificate.verify(certificate.publicKey)).toBe(true);
  expect(certificate.validToDate.getUTCFullYear()).toBe(9999);
});

test('both ends prove their keys, even on a port that serves plain connections too', async () => {
  const { port, shown } = await listening();
  const caller = deviceIdentity(newKey());
  const proven: string[] = [];
  const link = linkTo(port, byDevice, {
    identity: caller,
    onProven: (_channel, key) => void proven.push(key),
  });
  expect(await link.call(double, 4, 10_000)).toBe(8);
  expect(await linkTo(port, null).call(double, 5, 10_000)).toBe(10);
  expect(await linkTo(port, byDevice).call(double, 6, 10_000)).toBe(12);
  expect([shown, proven, link.key]).toEqual([
    [idOf(caller), null, null],
    [idOf(device)],
    idOf(device),
  ]);
});

test('a server with another key is recognized before anything is sent to it', async () => {
  const { port, shown } = await listening();
  const wanted = idOf(deviceIdentity(newKey()));
  const link = linkTo(port, { by: 'key', keys: new Set([wanted]) });
  await expect(link.connect()).rejects.toMatchObject({
    code: 'PEER_UNPROVEN',
    message: `127.0.0.1:${port} proves the key ${idOf(bundle)}, expected ${wanted}`,
  });
  expect(link.pausedMs).toBeGreaterThan(0);
  expect(shown).toEqual([]);
});

test('a certificate of another authority is refused, and its key is named', async () => {
  const { port, shown } = await listening();
  const link = linkTo(port, { by: 'authority', ca: device.cert });
  await expect(link.connect()).rejects.toMatchObject({
    code: 'PEER_UNPROVEN',
    message: expect.stringMatching(
      `does not have the expected certificate: it was not issued.* got one for .*, with the key ${idOf(bundle)}$`,
    ),
  });
  expect(shown).toEqual([]);
});

test('a server that refuses callers after the handshake may be asked for its key', async () => {
  const { port } = await listening();
  const refusal = Buffer.of(0x15, 3, 3, 0, 2, 2, 40); // an alert, fatal: handshake_failure
  const refusing = createTcpServer((caller) => {
    const behind = connect(port, '127.0.0.1').on('error', () => undefined);
    caller.on('error', () => undefined).pipe(behind);
    behind.on('data', (bytes) => void caller.write(Buffer.concat([bytes, refusal])));
  });
  await once(refusing.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void refusing.close());
  const { port: refusingPort } = refusing.address() as AddressInfo;
  const key = await askDeviceKey(`127.0.0.1:${refusingPort}`, 10_000);
  expect(key).toBe(spkiText(device));
});

test('if TLS is required, a plain caller gets no answer, and a silent one may leave', async () => {
  const { port, refused } = await listening({ servesPlain: false });
  const told = { code: 'PEER_UNREACHABLE', message: expect.stringContaining('--tls') };
  await expect(linkTo(port, null).connect()).rejects.toMatchObject(told);
  const get = getHttp(`127.0.0.1:${port}`, '/', { proof: null, timeoutMs: 10_000 });
  await expect(get).rejects.toMatchObject(told);
  await expect.poll(() => refused).toEqual(Array(2).fill('it does not speak TLS'));
  const silent = connect(port, '127.0.0.1');
  await once(silent, 'connect');
  const closed = once(silent, 'close');
  silent.end();
  await closed;
  expect(await linkTo(port, byDevice).call(double, 1, 10_000)).toBe(2);
});

test('the oldest silent callers and unfinished handshakes are dropped for new ones', async () => {
  const { port, refused } = await listening();
  const heard = linkTo(port, byDevice);
  expect(await heard.call(double, 1, 10_000)).toBe(2);
  for (let at = 0; at < silentConnectionsMax + 8; at += 1) {
    const silent = connect(port, '127.0.0.1').on('error', () => undefined);
    onTestFinished(() => void silent.destroy());
    await once(silent, 'connect');
    if (at % 2 === 0) silent.write(Buffer.of(22));
  }
  await expect.poll(() => refused.length, { timeout: 5_000 }).toBe(8);
  expect(refused[0]).toContain('had sent nothing');
  expect(await linkTo(port, byDevice).call(double, 2, 10_000)).toBe(4);
  expect(await heard.call(double, 3, 10_000), 'this link had made a call').toBe(6);
  expect(refused).toHaveLength(9);
});

test('a session ticket does not replace a key, and an older TLS is refused', async () => {
  const { port, refused } = await listening();
  const sessions: Buffer[] = [];
  const visit = async (more: ConnectionOptions): Promise<TLSSocket> => {
    const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false, ...more });
    onTestFinished(() => void socket.destroy());
    socket.on('session', (session: Buffer) => sessions.push(session));
    await once(socket, 'secureConnect');
    socket.write('GET /visit HTTP/1.1\r\nhost: x\r\n\r\n');
    await once(socket, 'data');
    return socket;
  };
  const first = await visit(deviceIdentity(newKey()));
  const kept = sessions.at(-1) ?? first.getSession();
  expect((await visit({ session: kept })).isSessionReused()).toBe(false);
  await expect(visit({ maxVersion: 'TLSv1.2' })).rejects.toThrow(/protocol version/);
  expect(refused).toEqual([expect.stringContaining('unsupported protocol')]);
});

test('a client that expects TLS from a server without it says so', async () => {
  const plain = createServer();
  await once(plain.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void plain.close());
  const link = linkTo((plain.address() as AddressInfo).port, byDevice);
  await expect(link.connect()).rejects.toMatchObject({
    code: 'PEER_UNREACHABLE',
    message: expect.stringContaining('it does not speak TLS') as string,
  });
});

test('a replaced certificate is presented from the next connection on', async () => {
  const { port, secure } = await listening();
  const before = linkTo(port, { by: 'key', keys: new Set([idOf(bundle)]) });
  await before.connect();
  const next = deviceIdentity(newKey());
  secure.show(next);
  expect(await before.call(double, 1, 10_000)).toBe(2);
  expect(
    await linkTo(port, { by: 'key', keys: new Set([idOf(next)]) }).call(double, 2, 10_000),
  ).toBe(4);
  expect(() => secure.show({ key: next.key, cert: bundle.cert })).toThrow();
  expect(await linkTo(port, byDevice).call(double, 3, 10_000)).toBe(6);
});

test('a renewed link requires the new proof, and answers in flight still arrive', async () => {
  const { port, sockets } = await listening();
  let proof: ServerProof | null = null;
  const link = linkTo(port, null, { proofOf: () => proof });
  await link.connect();
  const underWay = link.call(double, 1, 10_000);
  proof = byDevice;
  link.renew(10_000);
  expect(await underWay).toBe(2);
  expect(await link.call(double, 2, 10_000)).toBe(4);
  expect([link.key, sockets.size]).toEqual([idOf(device), 2]);
  link.renew(0);
  await expect.poll(() => sockets.size).toBe(1);
});

test('a plain request in small pieces is served whole', async () => {
  const { port } = await listening();
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  let answer = '';
  socket.on('data', (bytes) => {
    answer += String(bytes);
  });
  for (const piece of ['G', 'ET /pie', 'ces HTTP/1.1\r\nhost: x\r\n', '\r\n']) {
    await new Promise((resolve) => socket.write(piece, resolve));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await expect.poll(() => answer).toContain('/pieces');
  const other = request({ port, path: '/whole', host: '127.0.0.1' });
  const [response] = (await once(other.end(), 'response')) as [NodeJS.ReadableStream];
  expect(String((await once(response, 'data'))[0])).toBe('/whole');
});

test('a link without a known key connects once there is one', async () => {
  const { port } = await listening();
  let proof: ServerProof | null = null;
  let monotonicMs = 1_000;
  const link = linkTo(port, null, {
    monotonicMs: () => monotonicMs,
    proofOf: () => {
      if (proof === null) throw new Error('no key is known');
      return proof;
    },
  });
  await expect(link.connect()).rejects.toThrow('no key is known');
  expect(link.pausedMs).toBeGreaterThan(0);
  proof = byDevice;
  monotonicMs += link.pausedMs;
  expect(await link.call(double, 3, 10_000)).toBe(6);
});

test('a server that falls silent after its proof does not keep its callers waiting', async () => {
  const { port, http } = await listening();
  http.removeAllListeners('upgrade').on('upgrade', () => undefined);
  const link = linkTo(
    port,
    { by: 'device', keys: new Set([idOf(device)]) },
    { connectTimeoutMs: 500 },
  );
  await expect(link.connect()).rejects.toMatchObject({
    code: 'PEER_UNREACHABLE',
    message: expect.stringContaining('did not answer within 500 ms'),
  });
  expect(link.pausedMs).toBeGreaterThan(0);
});

test('a connection begun as soon as a greeting failed is kept, and is the only one', async () => {
  const { port, sockets } = await listening();
  let greetings = 0;
  const link = linkTo(port, byDevice, {
    greet: () => {
      greetings += 1;
      return greetings === 1 ? Promise.reject(new Error('no hello in time')) : Promise.resolve();
    },
  });
  await expect(link.connect()).rejects.toThrow('no hello in time');
  await link.connect().catch(() => undefined);
  await expect.poll(() => link.pausedMs).toBe(0);
  await link.connect();
  await expect.poll(() => sockets.size).toBe(1);
  link.close();
  await expect.poll(() => sockets.size).toBe(0);
});
