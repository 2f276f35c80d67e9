// Tests copies from carrier to carrier: which bytes arrive, what ends or invalidates a copy, and
// that unknown peers cannot block it.
import { once } from 'node:events';
import { globSync, truncateSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { copyGreetingsMax } from '@ringwright/base/limits-copies';
import { expect, onTestFinished, test, vi } from 'vitest';
import { copyProxy } from '../../../../test/support/copy-proxy.ts';
import { fill, scratch, textOf, write } from '../../test/support/scratch-store.ts';
import { spyAround } from '../../test/support/spy-around.ts';
import { greetingBytes, packGreeting } from '../carrier/copy-greeting.ts';
import { PartitionWal } from '../file/partition-wal.ts';
import { DiskSpace } from '../store/disk-space.ts';
import type { Store } from '../store.ts';
import type { CarrierCopy } from './carrier-copy.ts';
import type { OutgoingCopy } from './outgoing-copy.ts';

const host = '127.0.0.1';
/** A value of the maximum length. */
const MIB = 'x'.repeat(1024 * 1024);
const place0 = { keyspace: 'test', partition: 0 };

/** A source with `rows` records in partition 0, and a target whose partition 0 is `filling`. */
async function stores(rows: number, bytes: number) {
  const [from, to] = [scratch(), scratch()];
  const [source, target] = [await from.open(), await to.open()];
  await source.create('test', 0, 'ready');
  await target.create('test', 0, 'filling');
  await fill(source, rows, bytes);
  return {
    source,
    target,
    async [Symbol.asyncDispose]() {
      await from[Symbol.asyncDispose]();
      await to[Symbol.asyncDispose]();
    },
  };
}

async function begin(
  source: Store,
  target: Store,
): Promise<{ given: OutgoingCopy; taken: CarrierCopy }> {
  const given = source.copies.give(place0);
  const { description: about, key } = given;
  return { given, taken: await target.copies.take(about, key) };
}

type Room = Awaited<ReturnType<DiskSpace['reserve']>>;

const nobody = (): void => undefined;

async function carry(source: OutgoingCopy, taken: CarrierCopy): Promise<string> {
  const door = await source.door(taken.received);
  return taken.fetch({ host, ...door }, nobody);
}

/** Disables the check of the length of the WAL while the next copy is given. */
function unwatched(): void {
  vi.spyOn(globalThis, 'setInterval').mockImplementationOnce(() => setTimeout(nobody, 0));
}

test('a copy has the rows of the source WAL and the writes to the target meanwhile', async () => {
  await using place = await stores(3_000, 1_000);
  const { source, target } = place;
  const { given, taken } = await begin(source, target);
  expect(given.description.walBytes).toBeGreaterThan(0);
  const found = await carry(given, taken);
  await target.write([write('here', 'meanwhile', 99_999)]);
  await source.write([write('late', 'not in the copy', 99_999)]);
  const info = await taken.finish(found, await given.checksum());
  await given.release();
  expect(info).toMatchObject({ rows: 3_001, state: 'filling' });
  expect([textOf(target, 'here'), textOf(target, 'key-7')]).toEqual([
    'meanwhile',
    'x'.repeat(1_000),
  ]);
  expect(textOf(target, 'late')).toBeUndefined();
});

test('a copy of a large file resumes where it was cut', async () => {
  await using place = await stores(20_000, 1_000);
  const { source, target } = place;
  const { given, taken } = await begin(source, target);
  let left = 9 * 1024 * 1024;
  const door = await given.door(0);
  const proxy = net.createServer((socket) => {
    const onward = net.connect(door.port, host);
    socket.pipe(onward);
    onward.on('data', (bytes) => {
      left -= bytes.length;
      if (left >= 0) socket.write(bytes);
      else {
        socket.destroy();
        onward.destroy();
      }
    });
    for (const one of [socket, onward]) one.on('error', nobody);
  });
  await new Promise<void>((resolve) => proxy.listen(0, host, resolve));
  const { port } = proxy.address() as net.AddressInfo;
  await expect(taken.fetch({ host, ...door, port }, nobody)).rejects.toMatchObject({
    code: 'COPY_CUT',
  });
  proxy.close();
  expect(taken.received).toBeGreaterThan(1024 * 1024);
  expect(taken.received).toBeLessThan(10 * 1024 * 1024);
  const found = await carry(given, taken);
  await taken.finish(found, await given.checksum());
  await given.release();
  expect(target.info('test', 0)?.digest).toBe(source.info('test', 0)?.digest);
});

test('a checkpoint while the file is read invalidates the copy', async () => {
  await using place = await stores(100, 1_000);
  const { source, target } = place;
  unwatched();
  const { given, taken } = await begin(source, target);
  // More than checkpoints may be held back for.
  for (let at = 0; at < 40; at += 1) await source.write([write(`big-${at}`, MIB, 1_000 + at)]);
  const found = await carry(given, taken);
  await expect(given.checksum()).rejects.toMatchObject({ code: 'COPY_BUSY' });
  await expect(taken.finish(found, `${given.key}${'0'.repeat(32)}`)).rejects.toMatchObject({
    code: 'COPY_INVALID',
  });
  await given.release();
  expect(target.info('test', 0)).toMatchObject({ rows: 0, state: 'filling' });
});

test('a copy of a file that cannot be read to its end reports the file to the scrub', async () => {
  await using from = scratch();
  from.damaged();
  await using to = scratch();
  const filled = await from.openReady();
  await fill(filled, 1_000, 1_000);
  await filled.close();
  const [source, target] = [await from.open(), await to.open()];
  await target.create('test', 0, 'filling');
  const { given, taken } = await begin(source, target);
  const file = globSync('partitions/test/0/*/data.db', { cwd: from.directory })[0]!;
  truncateSync(path.join(from.directory, file), 8_192);
  await expect(carry(given, taken)).rejects.toMatchObject({ code: 'COPY_CUT' });
  await expect(given.checksum()).rejects.toThrow('a file ends at 8192 of');
  expect(source.takeSuspects()).toMatchObject([place0]);
  await Promise.all([given.release(), taken.discard()]);
});

/** Sends bytes to the port. Resolves to how many bytes it answers until it closes. */
async function answerTo(port: number, bytes: Buffer): Promise<number> {
  const socket = net.connect(port, host);
  socket.on('error', nobody);
  let came = 0;
  socket.on('data', ({ length }) => void (came += length));
  socket.write(bytes);
  await new Promise((resolve) => socket.once('close', resolve));
  return came;
}

test('a copy causes no checkpoint of its file, and one that is due waits for its end', async () => {
  await using place = await stores(100, 1_000);
  const { source } = place;
  const begun = vi.spyOn(PartitionWal.prototype, 'checkpointInPool');
  await source.copies.give(place0).release();
  unwatched();
  const given = source.copies.give(place0);
  for (let at = 0; at < 6; at += 1) await source.write([write(`big-${at}`, MIB, 1_000 + at)]);
  expect(begun).not.toHaveBeenCalled();
  await given.release();
  await vi.waitFor(() => expect(begun).toHaveBeenCalled());
  begun.mockRestore();
});

test('a floor that rises during a copy does not invalidate it', async () => {
  await using from = scratch();
  await using to = scratch();
  const [source, target] = [await from.openReady({ walBytesMax: 65_536 }), await to.open()];
  await target.create('test', 0, 'filling');
  await source.write(Array.from({ length: 5_000 }, (_, at) => write(`gone-${at}`, null, 30)));
  await fill(source, 100, 1_000);
  await source.raiseBarrier('test', 0, 50);
  unwatched();
  const { given, taken } = await begin(source, target);
  await source.raiseFloor('test', 0, 50);
  expect(source.info('test', 0)).toMatchObject({ tombstones: 0 });
  const found = await carry(given, taken);
  await taken.finish(found, await given.checksum());
  await given.release();
  expect(textOf(target, 'key-7')).toBe('x'.repeat(1_000));
});

test('a copy that is released while it reserves disk space frees the reservation', async () => {
  await using place = await stores(100, 1_000);
  const { source } = place;
  const [asked, looking] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const released = Promise.withResolvers<void>();
  onTestFinished(() => void vi.restoreAllMocks());
  spyAround(DiskSpace.prototype, 'reserve', {
    before: () => {
      asked.resolve();
      return looking.promise;
    },
    after: (room) => vi.spyOn(room as Room, 'release').mockImplementation(released.resolve),
  });
  const given = source.copies.give(place0);
  // More than checkpoints may be held back for.
  for (let at = 0; at < 6; at += 1) await source.write([write(`big-${at}`, MIB, 1_000 + at)]);
  await asked.promise;
  await given.release();
  looking.resolve();
  await released.promise;
});

test('a ticket is valid once, and other greetings get no bytes', async () => {
  await using place = await stores(100, 1_000);
  const given = place.source.copies.give(place0);
  const { port, ticket } = await given.door(0);
  const second = await given.door(0);
  const half = answerTo(port, packGreeting(ticket).subarray(1));
  expect(await answerTo(port, Buffer.alloc(greetingBytes, 1))).toBe(0);
  expect(await answerTo(port, Buffer.alloc(100_000, packGreeting(ticket)))).toBe(0);
  expect(await answerTo(port, packGreeting('ab'.repeat(32)))).toBe(0);
  expect(await answerTo(port, packGreeting(ticket))).toBe(given.description.bytes + 12);
  expect(await answerTo(port, packGreeting(ticket))).toBe(0);
  await given.release();
  await expect(given.door(0)).rejects.toMatchObject({ code: 'MOVE_UNKNOWN' });
  expect(await answerTo(port, packGreeting(second.ticket)), 'released').toBe(0);
  expect(await half, 'an incomplete greeting gets no bytes').toBe(0);
});

test('a ticket is valid as soon as it is returned, until its copy is released', async () => {
  await using place = await stores(10, 100);
  for (let round = 0; round < 50; round += 1) {
    const given = place.source.copies.give(place0);
    const { bytes } = given.description;
    const [first, second] = [await given.door(0), await given.door(0)];
    expect(await answerTo(first.port, packGreeting(first.ticket)), 'returned').toBe(bytes + 12);
    await given.release();
    expect(await answerTo(second.port, packGreeting(second.ticket)), 'released').toBe(0);
  }
});

test('bytes that did not arrive are sent again, also after the checksum was returned', async () => {
  await using place = await stores(100, 1_000);
  const given = place.source.copies.give(place0);
  const { bytes } = given.description;
  const { port, ticket } = await given.door(0);
  expect(await answerTo(port, packGreeting(ticket))).toBe(bytes + 12);
  const checksum = await given.checksum();
  const again = await given.door(bytes - 1_000);
  expect(await answerTo(port, packGreeting(again.ticket))).toBe(1_000 + 12);
  expect(await given.checksum()).toBe(checksum);
  await given.release();
});

test('unknown peers that hold connections do not block a copy', async () => {
  await using place = await stores(100, 1_000);
  const given = place.source.copies.give(place0);
  const { port, ticket } = await given.door(0);
  let gone = 0;
  const unknown = await Promise.all(
    Array.from({ length: 4 * copyGreetingsMax }, async () => {
      const socket = net.connect(port, host).on('close', () => (gone += 1));
      socket.on('error', () => undefined);
      await once(socket, 'connect');
      return socket;
    }),
  );
  expect(await answerTo(port, packGreeting(ticket))).toBe(given.description.bytes + 12);
  await vi.waitFor(() => expect(gone).toBeGreaterThanOrEqual(3 * copyGreetingsMax));
  for (const socket of unknown) socket.destroy();
  await given.release();
});

test('the source and the target each keep to a copy rate', async () => {
  await using place = await stores(1_500, 1_000);
  const { source, target } = place;
  const rate = 1024 * 1024;
  for (const [given, taken] of [
    [rate, null],
    [null, rate],
  ] as const) {
    source.copies.setRate(given);
    target.copies.setRate(taken);
    const copy = await begin(source, target);
    const startedMs = performance.now();
    const found = await carry(copy.given, copy.taken);
    const leastMs = ((copy.given.description.bytes - 2 * 256 * 1024) / rate) * 1_000;
    expect(performance.now() - startedMs).toBeGreaterThan(leastMs * 0.9);
    expect(found).toBe(await copy.given.checksum());
    await copy.given.release();
    await copy.taken.discard();
  }
}, 30_000);

test('an encrypted copy arrives and shows no plain text on the way', async () => {
  await using place = await stores(500, 1_000);
  const { source, target } = place;
  const given = source.copies.give(place0);
  const { description: about, key } = given;
  const taken = await target.copies.take(about, key);
  const door = await given.door(0);
  let came = Buffer.alloc(0);
  const proxy = await copyProxy(() => door.port);
  proxy.pass = (bytes) => {
    came = Buffer.concat([came, bytes]);
    return bytes;
  };
  const found = await taken.fetch({ host, ...door, port: proxy.port }, nobody);
  await taken.finish(found, await given.checksum());
  await given.release();
  await proxy[Symbol.asyncDispose]();
  expect(came.length).toBeGreaterThan(about.bytes);
  for (const shown of ['SQLite format 3', 'key-7', 'xxxxxxxx'])
    expect(came.includes(shown)).toBe(false);
  expect(target.info('test', 0)?.digest).toBe(source.info('test', 0)?.digest);
});
