// Tests a root that needs the signatures of several people: what each person is shown, and how to
// discard it. Also tests keys whose folder of rings is missing.
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ringBuilderHere } from '../../../../test/support/ring-builder-here.ts';

/** Two people, each with their own keys, share one folder. A new root needs both of them. */
async function twoPeople() {
  const rings = join(await mkdtemp(join(tmpdir(), 'ring-builder-')), 'rings');
  const personOf = async () => {
    const folder = await mkdtemp(join(tmpdir(), 'keys-'));
    const passphrase = () => Promise.resolve('correct horse');
    return ringBuilderHere({ rings, keys: { folder, name: null, passphrase } });
  };
  const [ada, bob] = [await personOf(), await personOf()];
  await ada.json('create cities --partitions 8 --replicas 1');
  await ada.json('key generate ada');
  const { line } = await bob.json<{ line: string }>('key generate bob-root --role root');
  const added = ['key', 'trust', '--add', line, '--threshold', 'root=2'];
  return { ada, bob, rings, made: await ada.answer(added) };
}

test('key trust names the missing signature and the command that adds it', async () => {
  const { ada, bob, made } = await twoPeople();
  const lacking =
    /^not signed yet by bob-root: on a machine with .*ring-builder key trust --sign$/m;
  expect(made).toMatchObject({ json: { inForce: false, changed: true } });
  expect(made.lines.join('\n')).toMatch(lacking);
  expect(made.next).toBe('ring-builder key trust');
  const again = await ada.answer('key trust --sign');
  expect(again.json).toMatchObject({
    inForce: false,
    changed: false,
    unsigned: [{ name: 'bob-root' }],
  });
  expect(again.lines[0]).toBe('nothing to add: the root keys here have already signed it');
  expect(again.next).toBe('ring-builder key trust');
  const health = await ada.answer('health');
  expect(health.json).toMatchObject({ waitingRoot: 2 });
  expect(health.lines.at(-1)).toBe(
    'root of trust 2 is pending: it lacks signatures of bob-root; ring-builder key trust shows it',
  );

  expect((await ada.answer('key trust')).next).toBe('ring-builder key list');
  const { lines, next } = await bob.answer('key trust');
  expect(next).toBe('ring-builder key trust --sign');
  const shown = lines.join('\n');
  expect(shown).toMatch(lacking);
  expect(shown).toMatch(/^it adds the root key bob-root \([0-9a-f]{12}\)$/m);
  expect(shown).toMatch(/^new: root keys: .*bob-root \(2 needed\)$/m);
  expect(shown).not.toContain('new: beacon keys');
  const signed = await bob.answer('key trust --sign');
  expect(signed.json).toMatchObject({ inForce: true, unsigned: [] });
  expect(signed.lines.join('\n')).toMatch(/^it adds the root key bob-root \([0-9a-f]{12}\)$/m);
  expect((await bob.answer('health')).json).toMatchObject({ waitingRoot: null });
});

test('key trust --discard drops the pending root and keeps the current one', async () => {
  const { ada, rings } = await twoPeople();
  const before = await readFile(join(rings, 'trust.json'), 'utf8');
  expect(await ada.refusal('key trust --discard --sign')).toMatchObject({ code: 'USAGE' });
  expect(await ada.json('key trust --discard')).toMatchObject({ discarded: true });
  expect(await ada.json('key trust')).toMatchObject({ waiting: null });
  expect(await readFile(join(rings, 'trust.json'), 'utf8')).toBe(before);
  expect(await ada.refusal('key trust --discard')).toEqual({ exit: 2, code: 'TRUST_UNKNOWN' });
});

test('key list offers no second root if the folder of rings is missing', async () => {
  const { ada } = await twoPeople();
  const { keys } = ada.contextOf([]);
  const elsewhere = await ringBuilderHere({ keys });
  const { lines, next } = await elsewhere.answer('key list');
  expect(lines.at(-1)).toMatch(/rings does not exist: --rings DIR selects a folder$/);
  expect(next).toBe('ring-builder key list --rings DIR');
});
