// Tests that a store loses no acknowledged write when its process is killed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { seededRandom } from '@ringwright/base/random';
import { expect, test } from 'vitest';
import { scratch, textOf } from '../test/support/scratch-store.ts';

const SEED = 20_261_121;
const WRITER = fileURLToPath(new URL('../test/support/write-until-killed.ts', import.meta.url));

/**
 * Lets a process write until it has acknowledged `count` writes, and kills it. Returns the numbers
 * of the acknowledged writes.
 */
async function writeAndKill(directory: string, first: number, count: number): Promise<number[]> {
  const child = spawn(process.execPath, [WRITER, directory, String(first)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  let output = '';
  for await (const chunk of child.stdout) {
    output += String(chunk);
    if (output.split('\n').length > count) child.kill('SIGKILL');
  }
  await ended;
  return output.split('\n').slice(0, -1).map(Number);
}

test(`every write acknowledged before a SIGKILL can be read after it (seed ${SEED})`, async () => {
  await using place = scratch();
  const random = seededRandom(SEED);
  const acknowledged: number[] = [];
  for (let round = 0; round < 8; round += 1) {
    const first = round * 100_000;
    acknowledged.push(...(await writeAndKill(place.directory, first, 20 + random.below(600))));
    const store = await place.open();
    for (const number of acknowledged) {
      expect(textOf(store, `key-${number}`, number % 3), `write ${number}`).toBe(`value-${number}`);
    }
    await store.close();
  }
  expect(acknowledged.length).toBeGreaterThan(200);
}, 120_000);
