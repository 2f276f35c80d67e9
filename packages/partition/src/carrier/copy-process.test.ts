// Tests the process of the carrier: what happens to its copies, and to the next one, when it dies,
// hangs, cannot listen, is idle or is closed.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { type CarrierListener, CopyProcess } from './copy-process.ts';
import type { CopyReport } from './copy-work.ts';

const folder = mkdtempSync(join(tmpdir(), 'carriers-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const here = { host: '127.0.0.1', port: 0, idleMsMax: 60_000 };
const order = { kind: 'take', parts: [], key: '' } as const;

function carrier(options: Partial<ConstructorParameters<typeof CopyProcess>[0]> = {}): CopyProcess {
  const made = new CopyProcess({ ...here, ...options });
  onTestFinished(() => made.close());
  return made;
}

/** Returns a program that reports a made-up port and runs `onTake` for each order to take. */
function program(name: string, onTake: string): URL {
  const file = join(folder, `${name}.mjs`);
  writeFileSync(
    file,
    `process.on('message', (order) => {
       if (order.kind === 'listen') process.send({ kind: 'listening', port: 7 });
       if (order.kind === 'take') { ${onTake} }
     });
     process.on('disconnect', () => process.exit());`,
  );
  return pathToFileURL(file);
}

/** A copy that ends with its first report, or with the code of the error that ended it. */
function outcome(): { readonly task: CarrierListener; readonly ended: Promise<string> } {
  const { promise: ended, resolve } = Promise.withResolvers<string>();
  const onReport = ({ kind }: CopyReport): void => resolve(kind);
  return { task: { onReport, onLost: ({ code }) => resolve(code) }, ended };
}

test('all copies end when the carrier dies, and the next one starts a new process', async () => {
  const made = carrier({
    program: program(
      'dies',
      'if (order.key) process.send({ kind: "synced", id: order.id }); else process.exit(3);',
    ),
  });
  const lost = [outcome(), outcome()];
  const orders = lost.map(({ task }) => made.begin(task));
  orders[0]?.(order);
  expect(await Promise.all(lost.map(({ ended }) => ended))).toEqual(['COPY_CUT', 'COPY_CUT']);
  expect(made.running).toBe(false);
  orders[1]?.(order); // an order of a copy that has ended: it is not sent
  expect(made.running).toBe(false);
  const next = outcome();
  made.begin(next.task)({ ...order, key: 'ab' });
  expect(await next.ended).toBe('synced');
});

test('a carrier that hangs can be killed, which ends its copies', async () => {
  const made = carrier({ program: program('hangs', 'for (;;);') });
  const hanging = outcome();
  made.begin(hanging.task)(order);
  expect(await made.port()).toBe(7);
  made.kill();
  expect(await hanging.ended).toBe('COPY_CUT');
});

test('a carrier that is stopped is killed, which ends its copies', async () => {
  const stops = program('stops', "process.kill(process.pid, 'SIGSTOP')");
  const made = carrier({ program: stops, stallMsMax: 1_200 });
  const stopped = outcome();
  made.begin(stopped.task)(order);
  expect(await stopped.ended).toBe('COPY_CUT');
  expect(made.running).toBe(false);
});

test('the carrier listens at its port, and reports an error if the port is in use', async () => {
  const free = carrier();
  const port = await free.port();
  expect(port).toBeGreaterThan(0);
  await new Promise<void>((resolve) => {
    const socket = net.connect(port, here.host, () => socket.destroy());
    socket.once('close', () => resolve());
  });
  const second = carrier({ port });
  await expect(second.port()).rejects.toMatchObject({ code: 'COPY_CUT' });
}, 30_000);

test('an idle carrier ends, and the next copy starts it again', async () => {
  const made = carrier({ idleMsMax: 1, program: program('idle', '') });
  const busy = outcome();
  const tell = made.begin(busy.task);
  await made.port();
  expect(made.running, 'it has a copy').toBe(true);
  tell({ kind: 'end' });
  await vi.waitFor(() => expect(made.running).toBe(false));
  made.begin(busy.task);
  expect(await made.port()).toBe(7);
});

test('a closed carrier ends its copies and begins no others', async () => {
  const made = carrier();
  const cut = outcome();
  made.begin(cut.task);
  made.close();
  expect(await cut.ended).toBe('COPY_CUT');
  expect(() => made.begin(cut.task)).toThrow(expect.objectContaining({ code: 'STORE_CLOSED' }));
  await expect(made.port()).rejects.toMatchObject({ code: 'STORE_CLOSED' });
});

test('a file that cannot be made here is a failure of the disk here', async () => {
  const { promise: failed, resolve } = Promise.withResolvers<CopyReport>();
  const begun = carrier().begin({ onReport: resolve, onLost: () => undefined });
  begun({ ...order, parts: [{ path: join(folder, 'none', 'data.db'), bytes: 1 }] });
  expect(await failed).toMatchObject({ kind: 'failed', code: 'DISK_FAILED' });
});
