// A stop ends periodic work that may take long, and does not wait for all of it.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '@ringwright/node/free-ports';
import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { serverOptionsSchema } from './options.ts';
import { Scrubber } from './repair/scrubber.ts';
import { startServer } from './start-server.ts';

test('a stop does not wait for the scrub of a long file', async () => {
  const tick = vi.spyOn(Scrubber.prototype, 'tick').mockReturnValue(new Promise(() => undefined));
  const data = await mkdtemp(join(tmpdir(), 'stop-'));
  onTestFinished(async () => {
    vi.restoreAllMocks();
    await rm(data, { recursive: true });
  });
  const [port] = await freePorts(1);
  const options = serverOptionsSchema.parse({ data, listen: `127.0.0.1:${port}` });
  const surroundings = { log: pino({ enabled: false }), onFailure: () => expect.fail() };
  const server = await startServer(options, surroundings);
  expect(tick).toHaveBeenCalledOnce();
  expect(await server.leave()).toBe(true);
});
