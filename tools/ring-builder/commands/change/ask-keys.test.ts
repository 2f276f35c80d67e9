// Tests --ask-key with a server that is down.
import { freePorts } from '@ringwright/node/free-ports';
import { expect, test } from 'vitest';
import { ringBuilderHere } from '../../../../test/support/ring-builder-here.ts';

test('--ask-key with a server that is down says what to do instead', async () => {
  const [port] = await freePorts(1);
  const tool = await ringBuilderHere();
  await tool.json('create cities --partitions 4 --replicas 1');
  await expect(
    tool.json(`add cities r1z1-127.0.0.1:${port}/sdb 1 --ask-key`),
  ).rejects.toMatchObject({
    code: 'PEER_UNREACHABLE',
    message: expect.stringContaining(`127.0.0.1:${port} cannot be reached`),
    hint: expect.stringMatching(/start it and repeat this command; .* --key/),
  });
});
