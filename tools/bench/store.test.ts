// Small runs of the storage benchmark with real servers, and with peers that are installed.
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import type { Comparison } from './measure/comparison.ts';

const program = path.join(import.meta.dirname, 'store.ts');
const small = ['--seconds', '0.1', '--rounds', '1', '--keys', '500', '--json'];

async function rowsOf(section: string): Promise<Comparison[]> {
  const args = [program, '--only', section, ...small];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return (JSON.parse(stdout) as { rows: Comparison[] }).rows;
}

test('the benchmark measures SET and GET on one device, alone and in pipelines', async () => {
  const rows = await rowsOf('redis');
  const rates = rows.filter(
    ({ what, unit }) => /^[SG]ET -P \d+, 100 bytes$/.test(what) && unit === '/s',
  );
  expect(rates).toHaveLength(4);
  for (const row of rows) expect(row.figure, row.what).toBeGreaterThan(0);
});

test('the benchmark measures puts and gets on three devices, by client and by HTTP', async () => {
  const rows = await rowsOf('etcd');
  expect(rows.filter(({ unit }) => unit === '/s')).toHaveLength(4);
  for (const row of rows) expect(row.figure, row.what).toBeGreaterThan(0);
});

test('an unknown section is refused, and the error lists the sections', async () => {
  const run = promisify(execFile)(process.execPath, [program, '--only', 'all']);
  await expect(run).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('redis') });
});
