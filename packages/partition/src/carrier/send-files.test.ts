// A copy that ends, or fails, while its files are copied aside: nothing stays open.
import {
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { FileSender } from './send-files.ts';

vi.mock('./copy-work.ts', () => ({ tellStore: () => undefined }));

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
