// Tests signing keys: one command turns signing on, roots and roles change, and what is refused.
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { notePush } from '../../../../test/support/note-push.ts';
import { type RingBuilder, ringBuilderIn } from '../../../../test/support/ring-builder-program.ts';

const shape = '--partition-power 5 --replicas 3';
const create = `create cities ${shape}`;
const devices = [1, 2, 3, 4].map((n) => `r1z${n}-10.0.0.${n}:6200/sdb 100`).join(' ');

/** Returns the options of one person, whose keys and passphrase are in a separate folder. */
async function person(name: string): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), `ring-builder-${name}-`));
  await writeFile(join(home, 'passphrase'), `secret of ${name}\n`, { mode: 0o600 });
  return `--key-folder ${join(home, 'keys')} --passphrase-file ${join(home, 'passphrase')}`;
}

const codeOf = async (
  tool: RingBuilder,
  args: string,
): Promise<readonly [number | null, string]> => {
  const { exit, stderr } = await tool.run(`${args} --json`);
  return [exit, (JSON.parse(stderr) as { code: string }).code];
};

test('commits report that they are unsigned until key generate turns signing on', async () => {
  const tool = await ringBuilderIn();
  const ada = await person('ada');
  await tool.json(create);
  await tool.json(`add cities ${devices}`);
  const unsigned = await tool.run('commit cities -m first --json');
  expect(JSON.parse(unsigned.stdout)).toMatchObject({ signed: false, version: 1 });
  // With --json, each line on stderr is an event.
  expect(
    unsigned.stderr
      .trim()
      .split('\n')
      .map((line): unknown => JSON.parse(line)),
  ).toEqual([
    {
      event: 'note',
      text: expect.stringMatching(/^UNSIGNED: version 1 of cities .*key generate/),
    },
  ]);
  const made = await tool.json<{ root: string }>(`key generate ada ${ada}`);
  const listed = await tool.json<{ keys: { role: string; here: boolean }[] }>(`key list ${ada}`);
  expect(listed.keys.map(({ role, here }) => [role, here])).toEqual([
    ['root', true],
    ['ring', true],
    ['beacon', true],
  ]);
  expect(await codeOf(tool, `key list nosuch ${ada}`)).toEqual([2, 'USAGE']);
  expect(await codeOf(tool, 'push cities')).toEqual([5, 'SIGNATURES_MISSING']);
  expect((await tool.run('status cities')).stdout).toMatch(/^Next: .* commit cities -m/m);
  expect(await codeOf(tool, 'commit cities -m x')).toEqual([2, 'SIGNING_KEY_UNKNOWN']);
  const signed = await tool.json(`commit cities -m signed ${ada}`);
  expect(signed).toMatchObject({ signed: true, signers: ['ada'], version: 2, moved: 0 });
  expect(await tool.json(`commit cities -m again ${ada}`)).toMatchObject({ changed: false });
  expect(await tool.json(`verify cities --trust ${made.root}`)).toMatchObject({ signed: true });
  const file = join(tool.folder, 'rings/cities/versions/0000002.ring');
  const trust = join(tool.folder, 'rings/trust.json');
  const restore = `restore cities --from ${file} --trust ${trust} --rings ${tool.folder}/anew`;
  expect(await tool.json(restore)).toMatchObject({ changed: true, signers: ['ada'] });
  expect(await tool.json(restore), 'the same restore again').toMatchObject({ changed: false });
  expect((await tool.run(`verify cities --trust ${'0'.repeat(64)}`)).exit).toBe(1);
  await rm(join(tool.folder, 'rings/trust.json'));
  expect(await codeOf(tool, 'status cities')).toEqual([2, 'TRUST_UNKNOWN']);
  const bob = await person('bob');
  expect((await tool.run(`status cities ${bob}`)).stdout).toContain(
    'signed, but the trust.json that lists',
  );
});

test('the first ring of a folder is signed from the start unless --unsigned is typed', async () => {
  const tool = await ringBuilderIn();
  const [keys, user] = [join(tool.folder, 'keys'), '--author ada@db1'];
  const place = `--key-folder ${keys} ${user}`;
  // A refused create leaves nothing: no key and no root.
  expect(await codeOf(tool, `create No ${shape} ${place}`)).toEqual([2, 'NAME_INVALID']);
  expect(await codeOf(tool, `${create} --key-folder ${tool.folder}/rings/keys`)).toEqual([
    2,
    'USAGE',
  ]);
  const weak = join(tool.folder, 'weak');
  await writeFile(weak, 'short', { mode: 0o644 });
  const withWeak = `${create} ${place} --passphrase-file ${weak}`;
  expect(await codeOf(tool, withWeak)).toEqual([2, 'FILE_UNFIT']);
  await chmod(weak, 0o600);
  const locked = await codeOf(tool, withWeak);
  expect(locked).toEqual([2, 'SIGNING_KEY_LOCKED']);
  expect(await readdir(tool.folder)).toEqual(['weak']);

  const made = await tool.run(`${create} ${place}`);
  expect(made.stdout).toContain(`signed with the key ada: keep a copy of ${keys}`);
  expect(made.stdout).toContain('no passphrase protects that key: ring-builder key protect');
  await tool.json(`add cities ${devices}`);
  const signed = await tool.json(`commit cities -m first ${place}`);
  expect(signed).toMatchObject({ signed: true, signers: ['ada'], signaturesMissing: 0 });
  // The next ring makes no key, because the folder already has a root. Committers sign it.
  expect(await tool.json(`create more ${shape} ${place}`)).toMatchObject({ key: null });
  const ada = `${place} --passphrase-file ${join(tool.folder, 'passphrase')}`;
  await writeFile(join(tool.folder, 'passphrase'), 'correct horse', { mode: 0o600 });
  // The last key of a role cannot be revoked. The hint names the command that makes another key.
  const alone = await tool.run(`key revoke ada ${ada} --json`);
  expect([alone.exit, JSON.parse(alone.stderr)]).toMatchObject([
    5,
    {
      message: 'without ada, role ring has 0 keys, its threshold is 1',
      hint: expect.stringContaining('ring-builder key generate NAME --role ring'),
    },
  ]);
  // The error is about the requested root, because trust.json itself is valid.
  for (const asked of ['--threshold root=2', '--allow-override no']) {
    const never = await tool.run(`key trust ${asked} ${ada} --json`);
    expect([never.exit, JSON.parse(never.stderr)], asked).toMatchObject([
      5,
      {
        message: expect.stringMatching(/^such a root: .* 1 key, /),
        hint: expect.stringMatching(/^nothing was changed: .* key generate NAME --role ROLE /),
      },
    ]);
  }
  const encrypted = { protected: ['ada-beacon', 'ada-root', 'ada'] };
  expect(await tool.json(`key protect ${ada}`)).toMatchObject(encrypted);
  expect(await tool.json(`key protect ${ada}`)).toMatchObject({ protected: [], changed: false });
  await tool.json(`add more ${devices}`);
  expect(await codeOf(tool, `commit more -m x ${place}`)).toEqual([2, 'SIGNING_KEY_LOCKED']);
  expect(await tool.json(`commit more -m x ${ada}`)).toMatchObject({ signed: true });

  // In a folder of unsigned rings, a new ring makes no key either.
  const other = await ringBuilderIn();
  expect(await other.json(`${create} --unsigned ${place}`)).toMatchObject({ key: null });
  expect(await other.json(`create more ${shape} ${place}`)).toMatchObject({ key: null });
  expect(await readdir(join(other.folder, 'rings'))).toEqual(['cities', 'more']);
});

test('an import into a folder with a root of trust is signed, or reports why not', async () => {
  const tool = await ringBuilderIn();
  const [ada, eve] = [await person('ada'), await person('eve')];
  await tool.json(`${create} --unsigned`);
  await tool.json(`add cities ${devices}`);
  await tool.json('commit cities -m first');
  const table = await tool.json<object>('table cities');
  await tool.json(`key generate ada ${ada}`);
  const file = join(tool.folder, 'table.json');
  await writeFile(file, JSON.stringify(table));

  const signed = await tool.json(`import --from-json ${file} copy ${ada}`);
  expect(signed).toMatchObject({ signed: true, version: 1 });
  expect(await tool.json('status copy')).toMatchObject({ signing: { signers: ['ada'] } });
  expect(await tool.json('verify copy')).toMatchObject({ ok: true });

  const keyless = await tool.run(`import --from-json ${file} other ${eve}`);
  expect(keyless.stdout).toMatch(
    /not signed, because no ring key is here.* commit other -m "signed/,
  );
  const { stdout } = await tool.run('status other');
  expect(stdout).toContain(
    'not signed under the root of trust of this folder: it cannot be pushed',
  );
  const foreign = await tool.run(`import --from-json ${file} far --cluster far ${ada}`);
  expect(foreign.stdout).toContain("it is of cluster 'far', the keys of this folder are of");
});

test('signing can be turned on while moves are in flight, and the moves stay', async () => {
  const tool = await ringBuilderIn();
  const ada = await person('ada');
  await tool.json(`${create} --min-part-hours 0`);
  await tool.json(`add cities ${devices}`);
  await tool.json('commit cities -m first');
  await notePush(tool.folder);
  await tool.json('set-weight cities d0 90');
  const { moved } = await tool.json<{ moved: number }>('commit cities -m lighter');
  expect(moved).toBeGreaterThan(0);
  expect(await codeOf(tool, 'commit cities -m again')).toEqual([5, 'MOVES_IN_FLIGHT']);
  await tool.json(`key generate ada ${ada}`);
  expect(await tool.json(`commit cities -m signed ${ada}`)).toMatchObject({ signed: true });
  const table = await tool.json<{ moves: object[] }>('table cities');
  expect(table.moves).toHaveLength(moved);
  expect(await tool.json(`verify cities ${ada}`)).toMatchObject({ findings: [] });
});

test('roles, thresholds and renewals need a new root, signed with the root key', async () => {
  const tool = await ringBuilderIn();
  const [ada, bob] = [await person('ada'), await person('bob')];
  await tool.json(`key generate ada ${ada}`);
  const { line } = await tool.json<{ line: string }>(`key generate bob --role ring ${bob}`);
  expect(await codeOf(tool, `key trust --add ${line} ${bob}`)).toEqual([2, 'SIGNING_KEY_UNKNOWN']);
  const added = await tool.json(`key trust --add ${line} --days 30 ${ada}`);
  expect(added).toMatchObject({ inForce: true, root: { version: 2, epoch: 1 } });
  const strict = `key trust --allow-override no --threshold ring=2 --raise-epoch ${ada}`;
  expect(await tool.json(strict)).toMatchObject({ root: { version: 3, epoch: 2 } });
  await tool.json(create);
  await tool.json(`add cities ${devices}`);
  const first = await tool.json(`commit cities -m first ${ada}`);
  expect(first).toMatchObject({ signed: true, signaturesMissing: 1 });
  expect(await codeOf(tool, 'push cities')).toEqual([5, 'SIGNATURES_MISSING']);
  expect((await tool.run('status cities')).stdout).toMatch(/^Next: ring-builder sign cities 1$/m);
  expect(await tool.json(`sign cities ${bob}`)).toMatchObject({ missing: 0, changed: true });
  expect(await tool.json(`sign cities ${bob}`)).toMatchObject({ changed: false });
  const log = await tool.json<{ entries: { kind: string }[] }>('log cities');
  expect(log.entries.map(({ kind }) => kind)).toEqual(['sign', 'commit']);
  // One key would be left for a threshold of two: such a root would lock everybody out.
  expect(await codeOf(tool, `key revoke bob ${ada}`)).toEqual([5, 'TRUST_INVALID']);
  const root = await readFile(join(tool.folder, 'rings', 'trust.json'), 'utf8');
  expect(root.split('\n')).toHaveLength(6);
});

test('revoking a key voids its signatures and names the commands that sign again', async () => {
  const tool = await ringBuilderIn();
  const [ada, bob] = [await person('ada'), await person('bob')];
  await tool.json(`key generate ada ${ada}`);
  await tool.json(create);
  await tool.json(`add cities ${devices}`);
  await tool.json(`commit cities -m first ${ada}`);
  const { line } = await tool.json<{ line: string }>(`key generate bob --role ring ${bob}`);
  const added = await tool.run(`key trust --add ${line} ${ada}`);
  expect(added.stdout).toMatch(/^Next: ring-builder push cities$/m);
  await tool.answer(['access', 'grant', 'shop', '--read', 'cities', ...ada.split(' ')]);
  const revoked = await tool.run(`key revoke ada ${ada}`);
  expect(revoked.stdout).toContain(
    'the access document lacks signatures now: ring-builder access sign',
  );
  expect(revoked.stdout).toContain('cities version 1 has too few signatures now');
  expect(revoked.stdout).toMatch(/^Next: ring-builder sign cities 1$/m);
  expect((await tool.run('status cities')).stdout).toContain(
    'signed by no trusted key (0 of 1); 1 more needed before it can be pushed',
  );
  expect(await tool.json(`sign cities 1 ${bob}`)).toMatchObject({ missing: 0 });
});

test('after a raised epoch the named commands make what servers accept again', async () => {
  const tool = await ringBuilderIn();
  const ada = await person('ada');
  await tool.json(`key generate ada ${ada}`);
  await tool.json(create);
  await tool.json(`add cities ${devices}`);
  await tool.json(`commit cities -m first ${ada}`);
  await tool.answer(['access', 'grant', 'shop', '--read', 'cities', ...ada.split(' ')]);
  const raised = await tool.run(`key trust --raise-epoch ${ada}`);
  expect(raised.stdout).toContain(
    'the access document lacks signatures now: ring-builder access sign',
  );
  expect(raised.stdout).toMatch(/^Next: ring-builder commit cities -m REASON$/m);
  expect(await codeOf(tool, 'push cities')).toEqual([5, 'SIGNATURES_MISSING']);
  expect(await codeOf(tool, `sign cities ${ada}`)).toEqual([5, 'SIGNATURES_MISSING']);
  expect((await tool.run('status cities')).stdout).toMatch(/^Next: ring-builder commit cities /m);
  expect(await tool.json(`commit cities -m again ${ada}`)).toMatchObject({
    ...{ version: 2, signed: true, signaturesMissing: 0, moved: 0 },
  });
  expect(await tool.json(`commit cities -m again ${ada}`)).toMatchObject({ changed: false });
  expect((await tool.answer(`access sign ${ada}`)).document).toMatchObject({
    ...{ version: 2, missing: 0 },
  });
  expect(await tool.json('verify cities')).toMatchObject({ accessMissing: 0, findings: [] });
});

const refused = [
  ['key generate ada', 2, 'SIGNING_KEY_LOCKED'],
  ['key generate Ada! --role ring', 2, 'NAME_INVALID'],
  ['key generate a b', 2, 'USAGE'],
  ['key trust', 2, 'TRUST_UNKNOWN'],
  ['key revoke', 2, 'USAGE'],
  ['key generate ada --days 9999', 2, 'VALUE_OUT_OF_RANGE'],
  ['key generate ada --key-folder rings/keys', 2, 'USAGE'],
  ['key forge', 2, 'USAGE'],
  ['sign nope', 2, 'RING_UNKNOWN'],
  ['beacon nope --minutes 0', 2, 'VALUE_OUT_OF_RANGE'],
  ['beacon nope', 2, 'TRUST_UNKNOWN'],
] as const;

test.concurrent.for(refused)('%s ends with %i and %s', async ([args, exit, code], { expect }) => {
  const tool = await ringBuilderIn();
  const keys = args.includes('--key-folder') ? '' : ' --key-folder keys';
  const typed = `${args}${keys}`.replace('--key-folder ', `--key-folder ${tool.folder}/`);
  expect(await codeOf(tool, typed)).toEqual([exit, code]);
});
