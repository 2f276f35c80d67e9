// Tests access commands without a ring-server: what they report, and what a refused grant leaves.
import { access, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import { trustOffer } from '@ringwright/wire/trust';
import { expect, test } from 'vitest';
import { fakeServer } from '../../../../test/support/fake-server.ts';
import { ringBuilderIn } from '../../../../test/support/ring-builder-program.ts';

test('a grant names rings that do not exist, and a refused grant leaves no file', async () => {
  const keys = { RING_BUILDER_KEYS: await mkdtemp(join(tmpdir(), 'keys-')) };
  const tool = await ringBuilderIn(undefined, { ...keys, RING_BUILDER_PASSPHRASE: 'a long one' });
  await tool.json('create notes --partitions 8 --replicas 2');
  await tool.json('key generate ada');
  const file = join(tool.folder, 'shop.token');
  const typo = await tool.run('access grant shop --read note --write notes --write *');
  expect(typo.stdout).toMatch(/^there is no ring note here$/m);
  expect(typo.stdout).not.toContain('no ring notes here');
  expect(typo.stdout).not.toContain('no ring * here');
  const again = await tool.run(`access grant shop --read notes --out ${file}`);
  expect(again.stderr).toContain('TOKEN_EXISTS');
  await expect(access(file)).rejects.toThrow('ENOENT');
  const missing = `--key-folder ${join(tool.folder, 'none')}`;
  const noKey = await tool.run(`access grant bob --read notes --out ${file} ${missing}`);
  expect(noKey.exit).not.toBe(0);
  await expect(access(file)).rejects.toThrow('ENOENT');
  const listed = await tool.run('access list --offline');
  expect(listed.stdout).toMatch(/^shop +read note, write notes, write \* +never +-$/m);
});

test('access commands advise starting a server that trusts no root with --trust', async () => {
  const { port } = await fakeServer([
    [
      trustOffer.method,
      {
        request: trustOffer.request,
        answer: () => {
          throw new CodedError('TRUST_UNKNOWN', 'this server trusts no root');
        },
      },
    ],
  ]);
  const keys = { RING_BUILDER_KEYS: await mkdtemp(join(tmpdir(), 'keys-')) };
  const tool = await ringBuilderIn(undefined, { ...keys, RING_BUILDER_PASSPHRASE: 'a long one' });
  await tool.json('create notes --partitions 8 --replicas 1');
  await tool.json('key generate ada');
  await tool.json(`add notes r1z1-127.0.0.1:${port}/sd1 1`);
  await tool.json('commit notes -m first');
  for (const typed of ['access grant shop --read notes', 'access push']) {
    const { exit, stdout } = await tool.run(typed);
    expect(exit, stdout).toBe(5);
    expect(stdout).toMatch(
      /^TRUST_UNKNOWN: start those servers with ring-server --trust .*json …/m,
    );
    expect(stdout).toMatch(/^Next: ring-builder key trust$/m);
    // Said once: with the first token, of a ring that names no keys.
    const demand = 'servers demand a token of each other too, since notes names no keys';
    expect(stdout.includes(demand)).toBe(typed !== 'access push');
  }
});

test('verify reads access.json too, and counts the signatures that it lacks', async () => {
  const keys = { RING_BUILDER_KEYS: await mkdtemp(join(tmpdir(), 'keys-')) };
  const tool = await ringBuilderIn(undefined, { ...keys, RING_BUILDER_PASSPHRASE: 'a long one' });
  await tool.json('create notes --partitions 8 --replicas 1');
  await tool.json('key generate ada');
  expect(await tool.json('verify notes')).toMatchObject({ ok: true, accessMissing: null });
  await tool.json('access grant shop --read notes');
  const { stdout } = await tool.run('verify notes');
  expect(stdout).toContain('and trust.json and access.json are sound');
  const file = join(tool.folder, 'rings', 'access.json');
  const text = await readFile(file, 'utf8');
  await writeFile(file, text.replaceAll('shop', 'shoq'));
  expect(await tool.json('verify notes')).toMatchObject({ ok: true, accessMissing: 1 });
  expect((await tool.run('verify notes')).stdout).toMatch(/^access.json needs 1 more signature/m);
  await writeFile(file, text.slice(1));
  const damaged = await tool.answer('verify notes');
  const findings = [{ code: 'ACCESS_INVALID', message: 'access document: it is not JSON' }];
  expect(damaged).toMatchObject({ exit: 1, document: { ok: false, findings } });
});
