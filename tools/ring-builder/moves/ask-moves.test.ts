// How long the servers of a ring have to report the state of its moves.
import type { Move } from '@ringwright/ring/move';
import { expect, onTestFinished, test, vi } from 'vitest';
import { statusServer } from '../../../test/support/status-server.ts';
import { connectTimeoutMs } from '../servers/server-connection.ts';
import { askMoves } from './ask-moves.ts';

test('a server has more time to report many moves', async () => {
  const { port } = await statusServer(() => ({}));
  const targets = [{ address: `127.0.0.1:${port}`, devices: [0], required: true }];
  const timeout = vi.spyOn(AbortSignal, 'timeout');
  onTestFinished(() => timeout.mockRestore());
  const timeFor = async (count: number): Promise<number> => {
    timeout.mockClear();
    const moves = Array.from({ length: count }, () => ({}) as Move);
    await askMoves({ keyspace: 'cities', moves }, targets);
    return Math.max(...timeout.mock.calls.map(([ms]) => ms));
  };
  expect(await timeFor(1)).toBeLessThan(connectTimeoutMs + 100);
  expect(await timeFor(43_690)).toBeGreaterThan(13_000);
});
