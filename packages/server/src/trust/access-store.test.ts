// The store of the access document: what it accepts, and what a restart finds.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newestRoot } from '@ringwright/ring/trust/trust-chain';
import { expect, onTestFinished, test } from 'vitest';
import { granted, signedAccess } from '../../../../test/support/access.ts';
import { scratchFolder } from '../../../../test/support/scratch-folder.ts';
import { people, signedRoot, testKey } from '../../../../test/support/signing.ts';
import { AccessStore } from './access-store.ts';

const trust = newestRoot([signedRoot()], null);

async function directoryForTest(): Promise<string> {
  const folder = await scratchFolder();
  onTestFinished(() => folder[Symbol.asyncDispose]());
  return join(folder.path, 'trust');
}

const load = (directory: string, trusts = [trust], nowMs = Date.parse('2026-11-01')) =>
  AccessStore.load({ directory, nowMs: () => nowMs, trusts: () => trusts });

test('an accepted document stays in force, and no older one replaces it', async () => {
  const directory = await directoryForTest();
  const store = await load(directory);
  expect([store.current, store.head]).toEqual([null, null]);
  const changes: number[] = [];
  store.onChange(({ document }) => changes.push(document.version));
  const [first, second] = [1, 2].map((version) => signedAccess({ version }));
  if (first === undefined || second === undefined) throw new Error('two documents');
  await store.offer(first);
  await store.offer(second);
  await store.offer(second);
  await expect(store.offer(first), 'replayed').rejects.toMatchObject({ code: 'ACCESS_OLDER' });
  const twin = signedAccess({ version: 2, tokens: [granted('eve', [{ role: 'operator' }])] });
  await expect(store.offer(twin)).rejects.toMatchObject({ code: 'ACCESS_FORK' });
  const forged = signedAccess({ version: 3 }, [testKey('mallory')]);
  await expect(store.offer(forged)).rejects.toMatchObject({ code: 'ACCESS_INVALID' });
  expect([store.head, changes]).toEqual([{ epoch: 1, version: 2 }, [1, 2]]);
  const again = await load(directory);
  await expect(again.offer(first), 'after a restart').rejects.toMatchObject({
    code: 'ACCESS_OLDER',
  });
  expect(again.head).toEqual({ epoch: 1, version: 2 });
});

test('a document signed again after a key was revoked is kept and passed on', async () => {
  const directory = await directoryForTest();
  const [revoked, kept] = people.ring;
  let trusts = [trust];
  const nowMs = () => Date.parse('2026-11-01');
  const about = { directory, nowMs, trusts: () => trusts };
  const store = await AccessStore.load(about);
  let changes = 0;
  store.onChange(() => (changes += 1));
  const before = signedAccess({}, [revoked!]);
  await store.offer(before);
  trusts = [newestRoot([signedRoot({ ring: [kept!] })], null)];
  await store.offer(before).catch(() => undefined);
  const again = signedAccess({}, [revoked!, kept!]);
  await store.offer(again);
  const wiped = await load(await directoryForTest(), trusts);
  await wiped.offer(store.current!.bytes);
  expect([wiped.head, changes]).toEqual([{ epoch: 1, version: 1 }, 1]);
  expect((await AccessStore.load(about)).current!.bytes, 'on disk').toEqual(again);
});

test('a server that trusts no root, or whose root has expired, stays closed', async () => {
  const directory = await directoryForTest();
  await (await load(directory)).offer(signedAccess());
  const untrusting = await load(directory, []);
  expect(untrusting.head).toEqual({ epoch: 1, version: 1 });
  await expect(untrusting.offer(signedAccess({ version: 2 }))).rejects.toMatchObject({
    code: 'TRUST_UNKNOWN',
  });
  const late = await load(directory, [trust], Date.parse('2031-01-01'));
  expect(late.head).toEqual({ epoch: 1, version: 1 });
  await expect(late.offer(signedAccess({ version: 2 }))).rejects.toMatchObject({
    code: 'TRUST_EXPIRED',
  });
});

test('a damaged file stops the start, and does not count as missing', async () => {
  const directory = await directoryForTest();
  await (await load(directory)).offer(signedAccess());
  const file = join(directory, 'access.json');
  await writeFile(file, '{}');
  await expect(load(directory)).rejects.toMatchObject({
    code: 'ACCESS_INVALID',
    message: expect.stringContaining(`${file} cannot be read`),
  });
});
