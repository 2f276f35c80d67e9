// Tests what settle advises about servers that did not answer or refused.
import { expect, test } from 'vitest';
import { ringBuilderHere } from '../../../../test/support/ring-builder-here.ts';
import { moveVersions, servedRing } from '../../../../test/support/served-ring.ts';
import type { AdviceContext, ServerFailure } from '../../servers/advice-rule.ts';
import { adviceAfterFork } from './advice-after-fork.ts';

const at = (device: number, code: ServerFailure['code']): ServerFailure => {
  return { address: `127.0.0.1:620${device}`, devices: [device], code };
};
const still: AdviceContext = { ring: servedRing({ replicas: 2 }), pushed: true, signing: 'off' };

test('for a server that did not answer, the advice is to run settle again', () => {
  const one = adviceAfterFork(still, [at(1, 'PEER_TIMEOUT')], 'ours was reviewed');
  expect(one?.command).toBe("settle cities -m 'ours was reviewed'");
  expect(one?.text).toMatch(/^start 127.0.0.1:6201; when it is back, run settle again: /);
  expect(one?.text).toContain('if it will not come back: ring-builder remove cities d1 ');
  expect(one?.text).not.toContain('within seconds');
  const two = adviceAfterFork(still, [at(1, 'PEER_UNREACHABLE'), at(2, 'PEER_TIMEOUT')], 'ours');
  expect(two?.text).toMatch(/^start 127.0.0.1:6201 127.0.0.1:6202; when they are back, /);
});

test('if only one side has splits, the advice names both ways out', () => {
  const foreign = [at(1, 'RING_FOREIGN'), at(2, 'PEER_UNREACHABLE')];
  const advice = adviceAfterFork(still, foreign, 'ours');
  expect(advice?.command).toBe('servers cities');
  expect(advice?.text).toMatch(/same splits and merges here: .*split cities .*commit cities, then/);
  expect(advice?.text).toContain('restore cities --from 127.0.0.1:6201 --replace, then settle');
  expect(advice?.text).not.toContain('moves cities cancel all');
  const [, ring] = moveVersions(servedRing({ replicas: 2 }), [
    { partition: 2, replica: 0, from: 2, to: 1 },
  ]);
  const moving = adviceAfterFork({ ...still, ring: ring! }, foreign, 'ours');
  expect(moving?.text).toContain('ring-builder moves cities cancel all, split cities');
});

test('an error worse than no answer gets the general advice', () => {
  const worse = [at(1, 'PEER_UNREACHABLE'), at(2, 'RING_OLDER')];
  expect(adviceAfterFork(still, worse, 'ours')?.text).toContain('git pull');
  const stranger = adviceAfterFork(still, [at(1, 'PEER_FAILED')], 'ours');
  expect(stranger?.text).toContain('stop what listens there');
  expect(adviceAfterFork(still, [], 'ours')).toBeNull();
});

test('settle names itself as the next command if its servers are down', async () => {
  const tool = await ringBuilderHere();
  await tool.json('create cities --partitions 8 --replicas 1');
  await tool.json('add cities r1z1-127.0.0.1:9/a 1');
  await tool.json('commit cities -m first');
  const { exit, next, lines } = await tool.answer('settle cities -m ours --yes');
  expect([exit, next]).toEqual([4, 'ring-builder settle cities -m ours']);
  expect(lines.join('\n')).toContain('start 127.0.0.1:9; when it is back, run settle again');
});
