// Tests a copy rate that is lent to a real server: its renewal, its return, and the report of a
// server that cannot be reached.
import { join } from 'node:path';
import { freePorts } from '@ringwright/node/free-ports';
import { waitFor } from '@ringwright/node/wait-for';
import { beforeAll, expect, test } from 'vitest';
import { scratchFolder } from '../../../test/support/scratch-folder.ts';
import { ServerUnderTest } from '../../../test/support/server-under-test.ts';
import { askCopyRates, ratesText, setCopyRates } from './copy-rates.ts';
import { lendRate } from './lend-rate.ts';

const OWN = 5_000_000;
let server: ServerUnderTest;

beforeAll(async () => {
  const folder = await scratchFolder();
  const [port = 0] = await freePorts(1);
  server = new ServerUnderTest({ device: 'sdb', zone: 1, port, data: join(folder.path, 'sdb') });
  await server.start();
  await setCopyRates([server], { rate: OWN });
  return async () => {
    await server.stop();
    await folder[Symbol.asyncDispose]();
  };
});

function world() {
  const [told, interrupts] = [[] as string[], new Set<() => Promise<void>>()];
  const context = {
    tell: (line: string) => void told.push(line),
    atInterrupt: (work: () => Promise<void>) => {
      interrupts.add(work);
      return () => void interrupts.delete(work);
    },
  };
  return { told, interrupts, context };
}

const rate = async () => (await askCopyRates([server])).get(server.address);
const own = { rate: OWN, lentMs: null };

test('a lent rate is renewed, and the server has its own rate again afterwards', async () => {
  const { told, interrupts, context } = world();
  const giveBack = await lendRate(context, () => [server], { rate: 9e6, renewMs: 20 });
  const first = (await rate())!;
  expect(first.rate).toBe(9e6);
  expect(ratesText(await askCopyRates([server]), 1)).toMatch(
    /^9.00 MB\/s, lent for \d+ s on 1 of 1 server$/,
  );
  // The remaining time only shrinks, unless the loan is renewed.
  let least = first.lentMs!;
  await waitFor('the loan to be said again', {
    ask: async () => {
      const now = (await rate())!.lentMs!;
      const isRenewed = now > least;
      least = Math.min(least, now);
      return isRenewed;
    },
    until: (is) => is,
  });
  expect(interrupts.size).toBe(1);
  await giveBack();
  expect(interrupts.size).toBe(0);
  expect(await rate()).toEqual(own);
  expect(told).toEqual([]);
});

test('returning a loan leaves that of a killed rollout, which a set rate ends', async () => {
  // This loan is never returned, because its rollout is dead.
  await setCopyRates([server], { rate: 9e6, loan: 'of a killed rollout' });
  const giveBack = await lendRate(world().context, () => [server], { rate: 9e6 });
  await giveBack();
  // The loan of the dead rollout lapses by itself later.
  expect(await rate()).toMatchObject({ rate: 9e6, lentMs: expect.any(Number) });
  await setCopyRates([server], { rate: OWN });
  expect(await rate()).toEqual(own);
});

test('an interrupt returns the rate, and an unreachable server is reported once', async () => {
  const { told, interrupts, context } = world();
  const away = { address: '127.0.0.1:1' };
  await lendRate(context, () => [server, away], { rate: 9e6, renewMs: 20 });
  for (const work of interrupts) await work();
  expect(await rate()).toEqual(own);
  expect(told).toEqual([
    expect.stringMatching(/^127.0.0.1:1 [^;]*; it did not receive the rate, and keeps its own$/),
  ]);
});

test('a server that joins during the rollout gets the rate, and then its own again', async () => {
  const { told, context } = world();
  let servers: ServerUnderTest[] = [];
  const giveBack = await lendRate(context, () => servers, { rate: 9e6, renewMs: 20 });
  servers = [server];
  await waitFor('the loan', { ask: rate, until: (now) => now?.rate === 9e6 });
  servers = [];
  await giveBack();
  expect(await rate()).toEqual(own);
  expect(told).toEqual([]);
});
