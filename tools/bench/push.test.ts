// A small run of the push benchmark: every listener swaps its ring, and the delta is smaller.
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const program = path.join(import.meta.dirname, 'push.ts');

interface Figures {
  readonly name: string;
  readonly bytesSent: number;
}

test('a delta for five listeners has less than a twentieth of the bytes of the ring', async () => {
  const args = [program, '--listeners', '5', '--power', '12', '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const { listeners, figures } = JSON.parse(stdout) as { listeners: number; figures: Figures[] };
  expect(listeners).toBe(5);
  expect(figures.map(({ name }) => name)).toEqual(['whole', 'delta']);
  const [whole, delta] = figures;
  expect(whole!.bytesSent % 5).toBe(0);
  expect(delta!.bytesSent * 20).toBeLessThan(whole!.bytesSent);
});
