// The error for an unknown ring suggests similar names, and how to restore a lost folder.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CodedError } from '@ringwright/base/coded-error';
import { expect, test } from 'vitest';
import { scratchFolder } from '../../../../test/support/scratch-folder.ts';
import { listRings } from './list-rings.ts';
import { nearNames, requireRing } from './require-ring.ts';

test.each<[string, readonly string[]]>([
  ['citeis', ['cities']],
  ['citie', ['cities', 'cities-2']],
  ['citis', ['cities']],
  ['ci', ['cities', 'cities-2']],
  ['cities-3', ['cities-2', 'cities']],
  ['objcet', ['objects']],
  ['b', ['b1']],
  ['towns', []],
  ['cities', ['cities', 'cities-2']],
])('the typed name %s suggests the rings %j', (typed, near) => {
  expect(nearNames(typed, ['a', 'b1', 'cities', 'cities-2', 'objects'])).toEqual(near);
});

test('at most three names are suggested', () => {
  const names = Array.from({ length: 9 }, (_, at) => `ring-${at}`);
  expect(nearNames('ring-x', names)).toEqual(['ring-0', 'ring-1', 'ring-2']);
});

test('the hint names similar rings, then restore, and create only if none is similar', async () => {
  await using folder = await scratchFolder();
  const refusal = async (ring: string, rings = folder.path): Promise<CodedError> =>
    requireRing(rings, ring).then(
      () => expect.unreachable(`${ring} is there`),
      (error: CodedError) => error,
    );
  for (const ring of ['cities', 'objects']) {
    await mkdir(join(folder.path, ring));
    await writeFile(join(folder.path, ring, 'builder.json'), '{}');
  }
  await requireRing(folder.path, 'cities');

  const typo = await refusal('citeis');
  expect(typo).toMatchObject({ code: 'RING_UNKNOWN', exit: 2, details: { near: ['cities'] } });
  expect(typo.hint).toMatch(/^did you mean cities\? .*restore citeis --from/);
  expect(typo.hint).not.toContain('create');

  await writeFile(join(folder.path, 'objects', 'log.jsonl'), '');
  await rm(join(folder.path, 'objects', 'builder.json'));
  expect(await listRings(folder.path)).toEqual(['cities', 'objects']);
  const half = await refusal('objects');
  expect(half).toMatchObject({ code: 'RING_LOG_DAMAGED' });
  expect(half.hint).toContain('ring-builder restore objects --from IP:PORT --replace');

  await rm(join(folder.path, 'objects'), { recursive: true });
  const lost = await refusal('objects');
  expect(lost.hint).toMatch(
    /restore objects --from FILE\.ring, or --from IP:PORT; .*create objects/,
  );

  const elsewhere = await refusal('cities', join(folder.path, 'absent'));
  expect(elsewhere.hint).toContain('--rings DIR selects another folder');
});

test('if only a replaced ring exists, the hint is the command that puts it back', async () => {
  await using folder = await scratchFolder();
  const kept = ['2026-01-02T000000.000Z', '2026-01-01T000000.000Z'].map((time) =>
    join(folder.path, '.replaced', time, 'cities'),
  );
  for (const path of kept) {
    await mkdir(path, { recursive: true });
    await writeFile(join(path, 'builder.json'), '{}');
  }
  await expect(requireRing(folder.path, 'cities')).rejects.toMatchObject({
    code: 'RING_UNKNOWN',
    message: expect.stringContaining(`only the replaced ${kept[0]}`),
    hint: expect.stringContaining(`mv ${kept[0]} ${join(folder.path, 'cities')} undoes it`),
  });
  await expect(requireRing(folder.path, 'towns')).rejects.toMatchObject({
    hint: expect.stringContaining('create towns'),
  });
});
