// Tests `access grant` without a ring-server: what it reports, and what a refused grant leaves.
import { access, mkdtemp } from 'node:fs/promises';
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
  expect(listed.stdout).toMatch(/^shop +read note, write notes, write \* +revoked +-$/m);
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
