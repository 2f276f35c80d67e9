// Grants where no server runs: what is said of them, and what a refused one leaves behind.
import { access, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ringBuilderIn } from '../../../../test/support/ring-builder-program.ts';

test('a grant names rings that are not here; a refused one leaves no file', async () => {
  const keys = { RING_BUILDER_KEYS: await mkdtemp(join(tmpdir(), 'keys-')) };
  const tool = await ringBuilderIn(undefined, { ...keys, RING_BUILDER_PASSPHRASE: 'a long one' });
  await tool.json('create notes --partitions 8 --replicas 2');
  await tool.json('key generate ada');
  const file = join(tool.folder, 'shop.token');
  const typo = await tool.run('access grant shop --read note --write notes --write *');
  expect(typo.stdout).toMatch(/^no ring here is called note$/m);
  expect(typo.stdout).not.toContain('is called notes');
  expect(typo.stdout).not.toContain('is called *');
  const again = await tool.run(`access grant shop --read notes --out ${file}`);
  expect(again.stderr).toContain('TOKEN_EXISTS');
  await expect(access(file)).rejects.toThrow('ENOENT');
  const missing = `--key-folder ${join(tool.folder, 'none')}`;
  const noKey = await tool.run(`access grant bob --read notes --out ${file} ${missing}`);
  expect(noKey.exit).not.toBe(0);
  await expect(access(file)).rejects.toThrow('ENOENT');
  const listed = await tool.run('access list --offline');
  expect(listed.stdout).toMatch(/^shop +read note, write notes, write \* +it is revoked +-$/m);
});
