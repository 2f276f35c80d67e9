// Tests how commands end if nobody reads their output any more, as after `head` or a closed window.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { ringBuilderHere } from '../../test/support/ring-builder-here.ts';

const launcher = path.join(import.meta.dirname, 'launcher.mjs');

/** Returns the exit code and the signal. */
async function ended(folder: string, closed: 'stdout' | 'stderr', typed: string) {
  const child = spawn(process.execPath, [launcher, ...typed.split(' ')], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit');
  child[closed].destroy();
  child[closed === 'stdout' ? 'stderr' : 'stdout'].resume();
  return exited;
}

test('the exit code is that of the answer', async () => {
  const { folder, json } = await ringBuilderHere();
  await json('create cities --partitions 8 --replicas 1');
  await json('add cities r1z1-127.0.0.1:1/sdb 1');
  await json('commit cities -m first');
  expect(await ended(folder, 'stdout', 'verify cities')).toEqual([0, null]);
  await appendFile(path.join(folder, 'rings/cities/builder.json'), ' ');
  expect(await ended(folder, 'stdout', 'verify cities')).toEqual([1, null]);
  expect(await ended(folder, 'stderr', 'status absent')).toEqual([2, null]);
});

test('a rollout whose progress is not read ends as after the loss of its terminal', async () => {
  const { folder, json } = await ringBuilderHere();
  await json('create cities --partitions 8 --replicas 1');
  await json('add cities r1z1-127.0.0.1:1/sdb 1');
  await json('commit cities -m first');
  expect(await ended(folder, 'stderr', 'rollout cities')).toEqual([null, 'SIGHUP']);
});
