// Calls of a device to itself: an error without a code is reported.
import { CodedError } from '@ringwright/base/coded-error';
import { recordStamp } from '@ringwright/wire/records';
import { expect, test } from 'vitest';
import { activeOn, servedRing } from '../../../../test/support/served-ring.ts';
import { deviceCallers, type WriteRequest } from './device-caller.ts';

const to = { active: activeOn(servedRing(), 0), device: 0 };
const about = { keyspace: 'cities', ringVersion: 1, partition: 0, key: Buffer.from('key') };

test.each([
  [new TypeError('nothing there'), 1],
  [new CodedError('DISK_FULL', 'no room'), 0],
])('%s of this device: %i reports each', async (error, reports) => {
  const bugs: unknown[] = [];
  const answer = (): Promise<never> => Promise.reject(error);
  const { forRequests } = deviceCallers({
    peers: { connect: () => expect.fail('no other device is called') },
    takesMany: () => true,
    handlers: new Map([[recordStamp.method, { request: recordStamp.request, answer }]]),
    ownWrite: (_, onResult) => onResult(null, error),
    onBug: (bug) => bugs.push(bug),
  });
  await expect(forRequests.call(to, recordStamp, about)).rejects.toBe(error);
  expect(bugs).toHaveLength(reports);
  const write: WriteRequest = { ...about, value: null, ms: 1, tie: 0 };
  const result = new Promise((resolve) => {
    forRequests.write(to, write, (...outcome) => resolve(outcome));
  });
  expect(await result).toEqual([0, null, error]);
  expect(bugs).toHaveLength(2 * reports);
});
