// What a caller learns about a server that cannot be reached.
import { expect, test } from 'vitest';
import { notReached } from './not-reached.ts';

test('a name with two addresses is not reached for two reasons', () => {
  // As Node makes it for localhost, without a message.
  const cause = new AggregateError([
    new Error('connect ECONNREFUSED ::1:6200'),
    new Error('connect ETIMEDOUT 127.0.0.1:6200'),
  ]);
  expect(notReached('localhost:6200', cause, { isPlain: true }).message).toBe(
    'localhost:6200 cannot be reached: ' +
      'connect ECONNREFUSED ::1:6200; connect ETIMEDOUT 127.0.0.1:6200',
  );
});
