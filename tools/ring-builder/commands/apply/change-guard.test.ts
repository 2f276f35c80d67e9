// Tests that a plan shows what the change guard will require of the commit.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type RingBuilder, ringBuilderIn } from '../../../../test/support/ring-builder-program.ts';

const slow = { timeout: 180_000 };
const usual = { shape: '--partition-power 6 --replicas 3', weights: [100, 100, 100, 100] };

/** Creates a ring that servers may know: its folder was restored from the file of a version. */
async function knownRing(keys: string | null, { shape, weights } = usual): Promise<RingBuilder> {
  const tool = await ringBuilderIn();
  if (keys !== null) await tool.json(`key generate ada ${keys}`);
  await tool.json(`create cities ${shape} --min-part-hours 0`);
  const devices = weights.map((weight, id) => `r1z${id + 1}-10.0.0.${id + 1}:6200/sdb ${weight}`);
  await tool.json(`add cities ${devices.join(' ')}`);
  await tool.json(`commit cities -m first${keys === null ? '' : ` ${keys}`}`);
  const anew = await ringBuilderIn();
  const trust = keys === null ? '' : ` --trust ${join(tool.folder, 'rings/trust.json')}`;
  const file = join(tool.folder, 'rings/cities/versions/0000001.ring');
  await anew.json(`restore --from ${file}${trust}`);
  return anew;
}

interface Planned {
  readonly brake: { readonly large: string; readonly secondSignature: boolean } | null;
  readonly warnings: readonly { readonly code: string }[];
}

const codesOf = ({ warnings }: Planned): string[] => warnings.map(({ code }) => code);

test('unsigned: plan and commit of a large change ask for the same override', slow, async () => {
  const tool = await knownRing(null);
  await tool.json('set-weight cities d0 90');
  const small = await tool.json<Planned>('plan cities --offline');
  expect([small.brake, codesOf(small)]).toEqual([null, []]);
  await tool.json('unstage cities');
  await tool.json('set-weight cities d1 9000');
  const large = await tool.json<Planned>('plan cities --offline');
  expect(large.brake).toMatchObject({ override: true, secondSignature: false });
  expect(codesOf(large)).toContain('BRAKE');
  const { stdout } = await tool.run('plan cities --offline');
  expect(stdout).toMatch(/warning BRAKE: a large change, .* needs --override REASON/);
  expect(stdout).toMatch(/^Next: ring-builder commit cities .* --override REASON$/m);
  const refused = await tool.run('commit cities -m typo --json');
  const { code, message } = JSON.parse(refused.stderr) as { code: string; message: string };
  expect([refused.exit, code]).toEqual([5, 'BRAKE']);
  expect(message).toContain(large.brake?.large);
  await tool.json(['commit', 'cities', '-m', 'no typo', '--override', 'it is meant']);
  const told = /^ *large change, .* slots move.*; override: it is meant$/m;
  for (const args of ['log cities', 'show cities']) {
    expect((await tool.run(args)).stdout).toMatch(told);
  }
});

test('a revert that the change guard blocks cancels no moves', slow, async () => {
  const tool = await knownRing(null);
  for (const weight of [9000, 100]) {
    await tool.json(`set-weight cities d1 ${weight}`);
    await tool.json(`commit cities -m ${weight} --direct --yes --override there-and-back`);
  }
  await tool.json('set-weight cities d0 90');
  expect(await tool.json('commit cities -m small')).toMatchObject({ version: 4, direct: false });
  const log = await tool.json('log cities');
  const back = await tool.json<Planned>('revert cities 2');
  expect(back).toMatchObject({ cancels: expect.any(Number), brake: { secondSignature: false } });
  expect(codesOf(back)).toContain('BRAKE');
  const refused = await tool.run('revert cities 2 -m again --json');
  expect(refused.exit).toBe(5);
  // The plan of a revert is its own output without -m.
  expect(JSON.parse(refused.stderr).hint).toMatch(
    /^see ring-builder revert cities 2; to continue: /,
  );
  expect(await tool.json('log cities')).toEqual(log);
  const done = await tool.json('revert cities 2 -m again --override meant');
  expect(done).toMatchObject({ version: 6, to: 2, cancelled: expect.any(Number) });
  expect(await tool.json('verify cities')).toMatchObject({ ok: true });
});

test(
  'the hint for a blocked removal says how to drain instead, which then passes',
  slow,
  async () => {
    const tool = await knownRing(null, {
      shape: '--partition-power 2 --replicas 1',
      weights: [1, 1],
    });
    await tool.json('remove cities d0');
    const refused = await tool.run('commit cities -m away --json');
    const { code, hint } = JSON.parse(refused.stderr) as { code: string; hint: string };
    expect([code, hint]).toEqual([
      'BRAKE',
      expect.stringContaining('if d0 still answers, drain it'),
    ]);
    for (const [, command = ''] of hint.matchAll(/ring-builder ((?:unstage|set-weight)[^&,]*)/g)) {
      await tool.json(command.trim());
    }
    expect(await tool.json('commit cities -m drained')).toMatchObject({ moved: 2 });
  },
);

test('signed: a first wave that alone looks large records why it passes', slow, async () => {
  const home = await ringBuilderIn();
  const passphrase = join(home.folder, 'passphrase');
  await writeFile(passphrase, 'correct horse battery\n', { mode: 0o600 });
  const keys = `--key-folder ${join(home.folder, 'keys')} --passphrase-file ${passphrase}`;
  const tiny = { shape: '--partition-power 1 --replicas 2', weights: [0.5, 3, 1, 1] };
  const tool = await knownRing(keys, tiny);
  await tool.json('set-weight cities d1 0');
  await tool.json('remove cities d3');
  expect(await tool.json<Planned>('plan cities --offline')).toMatchObject({ brake: null });
  await tool.json(`commit cities -m both ${keys}`);
  // Servers see only this version. They refuse a large change that gives no reason.
  const { stdout } = await tool.run('log cities');
  expect(stdout).toMatch(
    /large change, 2 of 4 slots move, .*; override: first wave of version 2: /,
  );
  expect(await tool.json('verify cities')).toMatchObject({ ok: true });
});

test('signed: the plan offers a second signature if a second key is trusted', slow, async () => {
  const home = await ringBuilderIn();
  const passphrase = join(home.folder, 'passphrase');
  await writeFile(passphrase, 'correct horse battery\n', { mode: 0o600 });
  const keys = `--key-folder ${join(home.folder, 'keys')} --passphrase-file ${passphrase}`;
  const tool = await knownRing(keys);
  await tool.json('set-weight cities d1 9000');
  const alone = await tool.json<Planned>('plan cities --offline');
  expect(alone.brake).toMatchObject({ override: true, secondSignature: false });
  const bob = await tool.json<{ line: string }>(`key generate bob --role ring ${keys}`);
  await tool.json(['key', 'trust', '--add', bob.line, ...keys.split(' ')]);
  const both = await tool.json<Planned>('plan cities --offline');
  expect(both.brake).toMatchObject({ override: true, secondSignature: true });
  const { stdout } = await tool.run('plan cities --offline');
  expect(stdout).toMatch(/waits for a second signature .*, or needs --override REASON/);
  await tool.json(`commit cities -m typo --sign-as ada ${keys}`);
  const signed = await tool.run(`sign cities --sign-as bob ${keys}`);
  expect(signed.stdout).toMatch(/set weight of d1 .* to 9000\nlarge change, .*; two people must/);
  // This line is computed from the rings, not taken from the message of the version.
  expect(signed.stdout).toMatch(/^against version 1: .* begun\n~ d1 .*: weight \S+ to 9000$/m);
});
