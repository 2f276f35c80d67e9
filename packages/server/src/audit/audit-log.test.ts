// Tests the audit log: its hash chain, its limits, and a disk that fails.
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { auditStart, checkChain, parseLine, printLine } from '@ringwright/access/audit-line';
import { auditFilesMax, auditWaitingMax } from '@ringwright/base/limits-access';
import { expect, onTestFinished, test } from 'vitest';
import { scratchFolder } from '../../../../test/support/scratch-folder.ts';
import { auditFile, auditFolder, checkAuditLog, listAuditFiles } from './audit-files.ts';
import { AuditLog } from './audit-log.ts';

async function dataForTest(): Promise<string> {
  const folder = await scratchFolder();
  onTestFinished(() => folder[Symbol.asyncDispose]());
  return folder.path;
}

const troubles: unknown[] = [];
const load = (data: string): Promise<AuditLog> =>
  AuditLog.load({ data, nowMs: () => 7, onTrouble: (error) => troubles.push(error) });
const event = (what: string) => ({ kind: 'refused', who: 'eve', what });

async function onlyFile(data: string): Promise<string> {
  const [file = ''] = await listAuditFiles(auditFolder(data));
  return file;
}

test('lines are chained across restarts, and a line cut short by a crash is removed', async () => {
  const data = await dataForTest();
  const log = await load(data);
  for (const what of ['one', 'two']) log.note(event(what));
  await log.flush();
  await appendFile(await onlyFile(data), '{"half":');
  const again = await load(data);
  again.note(event('three'));
  const lines = (await again.read(null, 100)).map(parseLine);
  expect(lines.map((line) => [line?.seq, line?.what])).toEqual([
    [1, 'one'],
    [2, 'two'],
    [3, 'three'],
  ]);
  expect(await checkAuditLog(data)).toEqual([]);
  expect((await again.read(3, 1)).map((text) => parseLine(text)?.what)).toEqual(['two']);
});

test('zeros of a power loss are no forgery, and are removed with what follows', async () => {
  const data = await dataForTest();
  const log = await load(data);
  for (const what of ['one', 'two', 'three']) log.note(event(what));
  await log.flush();
  const file = await onlyFile(data);
  const good = String(await readFile(file));
  const [, two = '', three = ''] = good.split('\n');
  for (const lost of [two, two.slice(9), `${two}\n${three}`]) {
    await writeFile(file, good.replace(lost, '\0'.repeat(lost.length)));
    expect(await checkAuditLog(data)).toEqual([]);
    const again = await load(data);
    again.note(event('after'));
    const lines = (await again.read(null, 100)).map(parseLine);
    expect(lines.map((line) => [line?.seq, line?.what])).toEqual([
      [1, 'one'],
      [2, 'after'],
    ]);
    expect(await checkAuditLog(data)).toEqual([]);
  }
});

test('a file that a crash left without a line does not restart the numbers', async () => {
  const data = await dataForTest();
  const log = await load(data);
  for (const what of ['one', 'two']) log.note(event(what));
  await log.flush();
  for (const begun of ['', '\0'.repeat(300)]) {
    await writeFile(auditFile(auditFolder(data), 3), begun);
    const again = await load(data);
    again.note(event('after'));
    const last = parseLine((await again.read(null, 1))[0] ?? '');
    expect(last).toMatchObject({ what: 'after' });
    expect(last?.seq).toBeGreaterThan(2);
    expect(await checkAuditLog(data)).toEqual([]);
  }
});

test('the check finds a line that was changed, removed or inserted', async () => {
  const data = await dataForTest();
  const log = await load(data);
  for (let at = 0; at < 5; at += 1) log.note(event(`number ${at}`));
  await log.flush();
  const file = await onlyFile(data);
  const good = String(await readFile(file));
  const lines = good.split('\n').slice(0, -1);
  const forgeries = [
    good.replace('number 2', 'number 3'),
    `${lines.filter((_, at) => at !== 2).join('\n')}\n`,
    `${[...lines.slice(0, 3), lines[1], ...lines.slice(3)].join('\n')}\n`,
    good.replace('"kind"', '"kind'),
  ];
  for (const forged of forgeries) {
    await writeFile(file, forged);
    expect(await checkAuditLog(data)).toContainEqual(
      expect.objectContaining({ code: 'AUDIT_LOG_BROKEN' }),
    );
  }
  // The first lines may have been rotated away.
  expect(checkChain(lines.slice(2))).toEqual([]);
});

test('waiting lines and files are limited, and dropped lines are counted', async () => {
  const data = await dataForTest();
  const log = await load(data);
  for (let at = 0; at < auditWaitingMax + 10; at += 1) log.note(event('x'.repeat(10_000)));
  await log.flush();
  const [last = ''] = await log.read(null, 1);
  expect(parseLine(last)).toMatchObject({
    kind: 'lost',
    what: expect.stringContaining('10 lines'),
  });
  expect(Buffer.byteLength(last)).toBeLessThan(2_048);
  for (let round = 0; round < 36; round += 1) {
    for (let at = 0; at < auditWaitingMax; at += 1) log.note(event('y'.repeat(10_000)));
    await log.flush();
  }
  expect(await listAuditFiles(auditFolder(data))).toHaveLength(auditFilesMax);
  expect(await checkAuditLog(data)).toEqual([]);
});

test('a failed write is reported, and the chain continues when the disk works again', async () => {
  const data = await dataForTest();
  const log = await load(data);
  log.note(event('before'));
  await log.flush();
  const file = await onlyFile(data);
  const good = await readFile(file);
  const { rm, mkdir } = await import('node:fs/promises');
  await rm(file);
  await mkdir(file);
  const before = troubles.length;
  log.note(event('lost'));
  await log.flush();
  expect(troubles).toHaveLength(before + 1);
  await rm(file, { recursive: true });
  // A full disk takes a part of a write.
  await writeFile(file, `${String(good)}{"half":`);
  log.note(event('after'));
  const lines = (await log.read(null, 10)).map((text) => parseLine(text)?.kind);
  expect(lines).toEqual(['refused', 'refused', 'lost']);
  expect(await checkAuditLog(data)).toEqual([]);
});

test('a line with a time that no date can show is not a line', () => {
  const text = printLine(event('a'), 7, auditStart);
  expect(parseLine(text)).toMatchObject({ ms: 7 });
  expect(parseLine(text.replace('"ms":7', `"ms":${Number.MAX_SAFE_INTEGER}`))).toBeNull();
});
