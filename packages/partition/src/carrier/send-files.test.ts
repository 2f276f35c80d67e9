// Tests that a copy that ends, or fails, while its files are copied aside leaves none open.
// Its checksum is reported whenever a reader may have all bytes.
import {
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { connect, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Duplex } from 'node:stream';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { headBytes, packGreeting } from './copy-greeting.ts';
import type { CopyAnswer } from './copy-work.ts';
import { FileSender } from './send-files.ts';

const answers = vi.hoisted((): CopyAnswer[] => []);
vi.mock('./copy-work.ts', () => ({
  tellStore: (answer: CopyAnswer) => void answers.push(answer),
}));

const folder = mkdtempSync(join(tmpdir(), 'given-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Files of the folder that this process has open. */
function openFiles(): string[] {
  const names = readdirSync('/proc/self/fd').map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return ''; // the descriptor with which the folder was read
    }
  });
  return names.filter((name) => name.startsWith(folder));
}

const bytes = 4 * 1024 * 1024;

function giving(name: string): { readonly sender: FileSender; readonly path: string } {
  const path = join(folder, name);
  writeFileSync(path, Buffer.alloc(bytes));
  const sender = new FileSender();
  sender.give({ kind: 'give', id: 1, parts: [{ path, bytes }], key: '00'.repeat(16) });
  return { sender, path };
}

test('a copy that ends while its files are copied aside closes both', async () => {
  const { sender } = giving('ends');
  const detached = sender.detach({ kind: 'detach', id: 1, directory: join(folder, 'aside-1') });
  expect(openFiles()).toHaveLength(2);
  sender.end(1);
  await detached;
  await vi.waitFor(() => expect(openFiles()).toEqual([]));
});

test('a file that cannot be copied aside leaves none open once its copy has ended', async () => {
  const { sender, path } = giving('shrinks');
  truncateSync(path, bytes / 2);
  const order = { kind: 'detach', id: 1, directory: join(folder, 'aside-2') } as const;
  await expect(sender.detach(order)).rejects.toThrow('a file ends at');
  sender.end(1);
  await vi.waitFor(() => expect(openFiles()).toEqual([]));
});

test('the checksum is reported when the connection breaks after the last byte', async () => {
  const path = join(folder, 'short');
  const content = Buffer.alloc(10_000, 'x');
  writeFileSync(path, content);
  const sender = new FileSender();
  sender.listen({ kind: 'listen', host: '127.0.0.1', port: 0 });
  const parts = [{ path, bytes: content.length }];
  sender.give({ kind: 'give', id: 1, parts, key: '00'.repeat(16) });
  const ticket = '11'.repeat(32);
  sender.admit({ kind: 'admit', id: 1, ticket, offset: 0, cipherKey: null });
  const listening = await vi.waitUntil(() => answers.find(({ kind }) => kind === 'listening'));
  const { value: write } = Object.getOwnPropertyDescriptor(Duplex.prototype, 'write') ?? {};
  const writes = vi.spyOn(Socket.prototype, 'write');
  onTestFinished(() => writes.mockRestore());
  writes.mockImplementation(function (this: Socket, bytes: unknown, done: unknown) {
    const isLast = Buffer.isBuffer(bytes) && bytes.length === content.length;
    const ended = (): void => {
      if (isLast) this.destroy();
      if (typeof done === 'function') done();
    };
    return Reflect.apply(write, this, [bytes, ended]);
  });
  const socket = connect((listening as { port: number }).port, '127.0.0.1');
  let received = 0;
  socket.on('data', ({ length }) => void (received += length));
  socket.write(packGreeting(ticket));
  await vi.waitFor(() => expect(received).toBe(headBytes + content.length));
  await vi.waitFor(() =>
    expect(answers).toContainEqual(expect.objectContaining({ kind: 'given' })),
  );
  sender.end(1);
});
