// Tests the side process: its jobs, its limit, and what fails when it dies or is closed.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { BackgroundProcess } from '@ringwright/node/background-process';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { emptyDigest, formatDigest } from '../file/digest.ts';
import { newPartitionBytes } from '../file/new-partition-file.ts';
import type { FileToMake } from './make-file.ts';
import { SideProcess } from './side-process.ts';

const limits = { jobsMax: 4, idleMsMax: 60_000 };
const folder = mkdtempSync(join(tmpdir(), 'audits-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function goodFile(): string {
  const file = join(folder, `${randomUUID()}.db`);
  const incarnation = randomUUID();
  const names = { keyspace: 'test', partition: 3, incarnation, life: incarnation };
  writeFileSync(file, newPartitionBytes({ ...names, state: 'ready' }));
  return file;
}

function sideProcess(
  options: Partial<ConstructorParameters<typeof SideProcess>[0]> = {},
): SideProcess {
  const made = new SideProcess({ ...limits, ...options });
  onTestFinished(() => made.close());
  return made;
}

/**
 * A program that dies of files named `throw` and `exit`, never answers for `hang`, stops at `stop`,
 * waits for the disk with `slow` until it gets `sync`, and finds nothing in other files.
 */
function crashing(): URL {
  const program = join(folder, 'crash.mjs');
  writeFileSync(
    program,
    `const slow = [];
     const found = { kind: 'done', result: { findings: [], meta: null } };
     process.on('message', ({ id, work: { file } }) => {
       if (file === 'throw') throw new Error('boom');
       if (file === 'exit') process.exit(3);
       if (file === 'hang') return;
       if (file === 'stop') process.kill(process.pid, 'SIGSTOP');
       if (file === 'slow') slow.push(id);
       const synced = file === 'sync' ? slow.splice(0) : [];
       for (const one of synced) process.send({ id: one, answer: found });
       process.send({ id, answer: file === 'slow' ? { kind: 'waits' } : found });
     });`,
  );
  return pathToFileURL(program);
}

test('one process audits many files, good and bad', async () => {
  const audits = sideProcess();
  expect(audits.running).toBe(false);
  const bad = join(folder, 'bad.db');
  writeFileSync(bad, 'no database at all, but long enough to be looked at'.repeat(20));
  const [good, damaged, missing] = await Promise.all([
    audits.audit(goodFile()),
    audits.audit(bad),
    audits.audit(join(folder, 'missing.db')),
  ]);
  expect(good).toMatchObject({ findings: [], meta: { partition: 3 } });
  expect(damaged.findings.map(({ code }) => code)).toEqual(['FILE_CORRUPT']);
  expect(missing.findings.map(({ code }) => code)).toEqual(['FILE_CORRUPT']);
  expect(audits.running).toBe(true);
});

test('a process that dies fails only the job that it was doing', async () => {
  const audits = sideProcess({ program: crashing() });
  const settled = await Promise.allSettled(
    ['fine', 'throw', 'exit', 'fine'].map((file) => audits.audit(file)),
  );
  expect(settled.map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'rejected',
    'fulfilled',
  ]);
});

test('a process that stops is killed: its job fails, and the next one runs', async () => {
  const audits = sideProcess({ program: crashing(), stallMsMax: 1_200 });
  const [stopped, fine] = await Promise.allSettled([audits.audit('stop'), audits.audit('fine')]);
  expect(stopped).toMatchObject({ reason: { message: /made no progress for 1.2 s/ } });
  expect(fine).toMatchObject({ status: 'fulfilled' });
});

test('a job begins while another waits for the disk, and both fail with the process', async () => {
  const audits = sideProcess({ program: crashing() });
  const whole = ['slow', 'fine', 'slow', 'sync'].map((file) => audits.audit(file));
  for (const found of await Promise.all(whole)) expect(found.findings).toEqual([]);
  const lost = await Promise.allSettled(['slow', 'exit'].map((file) => audits.audit(file)));
  expect(lost.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});

test.each(['hang', 'slow'])(
  'jobs beyond the limit are refused, and closing fails those that wait (%s)',
  async (file) => {
    const audits = sideProcess({ program: crashing() });
    const waiting = Array.from({ length: limits.jobsMax }, () => audits.audit(file));
    const settled = Promise.allSettled(waiting);
    await expect(audits.audit('one too many')).rejects.toMatchObject({ code: 'STORE_BUSY' });
    audits.close();
    for (const result of await settled) {
      expect(result).toMatchObject({ status: 'rejected', reason: { code: 'STORE_CLOSED' } });
    }
    await expect(audits.audit('late')).rejects.toMatchObject({ code: 'STORE_CLOSED' });
    expect(audits.running).toBe(false);
  },
);

test('an idle process ends, and the next job starts it again', async () => {
  const audits = sideProcess({ idleMsMax: 1 });
  const file = goodFile();
  await audits.audit(file);
  await expect.poll(() => audits.running).toBe(false);
  expect((await audits.audit(file)).findings).toEqual([]);
});

test('a process can be prepared before its first audit, but not after close', async () => {
  const audits = sideProcess();
  audits.prepare();
  audits.prepare();
  expect(audits.running).toBe(true);
  expect(await audits.audit(goodFile())).toMatchObject({ findings: [] });
  audits.close();
  audits.prepare();
  expect(audits.running).toBe(false);
});

function toMake(change: Partial<FileToMake> = {}): FileToMake {
  const owner = { incarnation: 'one', life: 'one', state: 'filling' } as const;
  const marks = { barrierMs: 0, floorMs: 0 };
  return {
    ...{
      file: join(folder, randomUUID(), 'one', 'data.db'),
      owner,
      keyspace: 'test',
      partition: 3,
    },
    ...{ ...marks, records: new Uint8Array(), digest: formatDigest(emptyDigest), ...change },
  };
}

test('files that are requested together are one job, and each has its own outcome', async () => {
  const send = vi.spyOn(BackgroundProcess.prototype, 'send');
  onTestFinished(() => send.mockRestore());
  const side = sideProcess();
  const [first, last] = [toMake(), toMake()];
  const [made, differs, exists, whole] = await Promise.allSettled([
    side.make(first),
    side.make(toMake({ digest: 'f'.repeat(16) })),
    side.make(toMake({ file: first.file })),
    side.make(last),
  ]);
  expect(send).toHaveBeenCalledTimes(1);
  expect(made).toMatchObject({ value: { info: { partition: 3, state: 'filling' } } });
  expect(differs).toMatchObject({ value: null });
  expect(exists).toMatchObject({ reason: { code: 'DISK_FAILED', message: /EEXIST/ } });
  expect(whole).toMatchObject({ status: 'fulfilled' });
  for (const { file } of [first, last]) {
    const audit = await side.audit(file);
    expect(audit).toMatchObject({ findings: [], meta: { incarnation: 'one' } });
  }
});

test('each file of a job counts against the limit, and closing fails all of them', async () => {
  const side = sideProcess();
  const waiting = Array.from({ length: limits.jobsMax }, () => side.make(toMake()));
  const settled = Promise.allSettled(waiting);
  await expect(side.make(toMake())).rejects.toMatchObject({ code: 'STORE_BUSY' });
  side.close();
  for (const result of await settled) {
    expect(result).toMatchObject({ status: 'rejected', reason: { code: 'STORE_CLOSED' } });
  }
});
