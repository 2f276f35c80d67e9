import { setImmediate } from 'node:timers/promises';
import { CodedError } from '@ringwright/base/coded-error';
import type { RequestOf } from '@ringwright/wire/message';
import { digestPartitionsMax, type digests } from '@ringwright/wire/replication';
import { expect, test } from 'vitest';
import { activeOn, servedRing } from '../../../../test/support/served-ring.ts';
import type { DeviceCaller } from '../peers/device-caller.ts';
import { HoldingQuestions } from './ask-holdings.ts';

const active = activeOn(servedRing(), 0);
const later = activeOn({ ...servedRing(), version: 2 }, 0);
type Asked = RequestOf<typeof digests> & { readonly device: number };

/** `answer`: the digests of the partitions asked for. */
function questions(answer: (question: Asked) => unknown[] = ({ partitions }) => [...partitions]) {
  const asked: Asked[] = [];
  const call = async ({ device }: { device: number }, _kind: unknown, request: Asked) => {
    asked.push({ ...request, device });
    return { holdings: answer({ ...request, device }) };
  };
  const devices = { call } as unknown as DeviceCaller;
  return { asked, holdings: new HoldingQuestions(devices) };
}

test('the questions of a turn are one message to each device, each with its answer', async () => {
  const { asked, holdings } = questions();
  const all = [
    holdings.ask(active, 1, 3),
    holdings.ask(active, 2, 3),
    holdings.ask(active, 1, 0),
    holdings.ask(later, 1, 2),
  ];
  expect(await Promise.all(all)).toEqual([3, 3, 0, 2]);
  expect(
    asked.map(({ device, ringVersion, partitions }) => [device, ringVersion, partitions]),
  ).toEqual([
    [1, 1, [3, 0]],
    [2, 1, [3]],
    [1, 2, [2]],
  ]);
});

test('a question of after a message is not answered by it', async () => {
  const { asked, holdings } = questions();
  const first = holdings.ask(active, 1, 3);
  await setImmediate();
  const second = holdings.ask(active, 1, 3);
  await Promise.all([first, second]);
  expect(asked.length).toBe(2);
});

test('a device that fails fails its own questions, and one that answers too few all', async () => {
  const { holdings } = questions(({ device, partitions }) => {
    if (device === 1) throw new CodedError('PEER_UNREACHABLE', 'd1 is down');
    return device === 2 ? partitions.slice(1) : [...partitions];
  });
  const codes = await Promise.all(
    [1, 1, 2, 2, 3].map((device, partition) =>
      holdings.ask(active, device, partition).catch((error: CodedError) => error.code),
    ),
  );
  const lost = ['PEER_UNREACHABLE', 'PEER_UNREACHABLE', 'PEER_FAILED', 'PEER_FAILED'];
  expect(codes).toEqual([...lost, 4]);
});

test('more than one message holds go in several', async () => {
  const { asked, holdings } = questions();
  const count = digestPartitionsMax + 1;
  const partitions = Array.from({ length: count }, (_, partition) => partition);
  const all = partitions.map((partition) => holdings.ask(active, 1, partition));
  expect(await Promise.all(all)).toEqual(partitions);
  expect(asked.map(({ partitions }) => partitions.length)).toEqual([digestPartitionsMax, 1]);
});
