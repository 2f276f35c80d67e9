// A small run of the benchmark of moves: a real file moves from one real server to another.
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import type { Comparison } from './measure/comparison.ts';

const program = path.join(import.meta.dirname, 'move.ts');

test('the benchmark compares the copy of a partition file with cp', async () => {
  const args = [program, '--only', 'file', '--mib', '2', '--rounds', '1', '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const { rows } = JSON.parse(stdout) as { rows: Comparison[] };
  expect(rows[0]).toMatchObject({ section: 'file', beside: { name: 'cp + fsync' } });
  expect(rows[0]!.figure).toBeGreaterThan(0);
});
