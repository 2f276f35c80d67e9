// Tests what a port shows and logs: a TLS bundle that has expired or is not valid yet, and a caller
// that is refused repeatedly.
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import path from 'node:path';
import { deviceIdentity } from '@ringwright/node/link/device-certificate';
import type { Logger } from 'pino';
import { expect, test } from 'vitest';
import { makeCertificates, opensslHere } from '../../../test/support/certificates.ts';
import { scratchFolder } from '../../../test/support/scratch-folder.ts';
import { PortSecurity } from './port-security.ts';

const device = deviceIdentity(generateKeyPairSync('ed25519').privateKey);
const weekMs = 7 * 24 * 3_600_000;

function noted() {
  const lines: [level: string, details: Record<string, unknown>, line: string][] = [];
  const at = (level: string) => (details: Record<string, unknown>, line: string) =>
    void lines.push([level, details, line]);
  const log = { info: at('info'), warn: at('warn'), error: at('error') } as unknown as Logger;
  return { lines, log };
}

test.skipIf(!opensslHere)('an expired bundle is shown and logged as an error', async () => {
  await using folder = await scratchFolder();
  const { cert, key } = await makeCertificates(folder.path);
  const file = path.join(folder.path, 'bundle.pem');
  const pem = Buffer.concat([await readFile(key), await readFile(cert)]);
  await writeFile(file, pem, { mode: 0o600 });
  const { lines, log } = noted();
  const security = await PortSecurity.open(file, { device, log, nowMs: () => Date.now() + weekMs });
  await security.close();
  const names = expect.stringContaining('127.0.0.1');
  const time = expect.stringMatching(/^20.*Z$/);
  expect(security.shown).toEqual({ names, starts: time, ends: time });
  const hint = expect.stringContaining('certs rotate NAME');
  expect(lines[0]?.slice(0, 2)).toMatchObject(['error', { error: { hint } }]);
});

test.skipIf(!opensslHere)('a bundle that is not valid yet is not shown before it is', async () => {
  await using folder = await scratchFolder();
  const file = path.join(folder.path, 'bundle.pem');
  const write = async (): Promise<void> => {
    const { cert, key } = await makeCertificates(folder.path);
    const pem = Buffer.concat([await readFile(key), await readFile(cert)]);
    await writeFile(`${file}.new`, pem, { mode: 0o600 });
    await rename(`${file}.new`, file);
  };
  await write();
  const { lines, log } = noted();
  let aheadMs = 0;
  const nowMs = () => Date.now() + aheadMs;
  await using stack = new AsyncDisposableStack();
  stack.adopt(await PortSecurity.open(file, { device, log, nowMs }), (one) => one.close());
  aheadMs = -weekMs;
  await write();
  await expect
    .poll(() => lines.at(-1), { timeout: 20_000 })
    .toMatchObject([
      'warn',
      { error: { message: expect.stringContaining('is not valid before') } },
      'the previous certificate stays in use',
    ]);
  aheadMs = 0;
  const shown = ['info', { file }, 'certificate in use'];
  await expect.poll(() => lines.at(-1), { timeout: 20_000 }).toMatchObject(shown);
  expect(lines).toHaveLength(3);
});

test('repeated refusals of a caller are logged once, with a count at the end', async () => {
  const { lines, log } = noted();
  const security = await PortSecurity.open('own', { device, log, nowMs: Date.now });
  const server = createServer();
  security.guard(server, 1);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  for (let times = 0; times < 3; times += 1) {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write('GET / HTTP/1.1\r\n\r\n');
    await once(socket, 'close');
  }
  expect(lines).toHaveLength(1);
  await security.close();
  server.close();
  const reason = 'it does not speak TLS';
  expect(lines.map(([, details]) => details)).toMatchObject([{ reason }, { reason, repeated: 2 }]);
});
