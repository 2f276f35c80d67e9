// Tests the progress of a push: it reports counts when it takes longer than a second.
import net, { type AddressInfo } from 'node:net';
import { encodeRing } from '@ringwright/ring/file/ring-file';
import { expect, test } from 'vitest';
import { servedRing } from '../../../test/support/served-ring.ts';
import { pushToTargets } from './push-to-targets.ts';

test('a push reports progress while a server is silent, and counts it as unreachable', async () => {
  const mute = net.createServer();
  await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
  const address = `127.0.0.1:${(mute.address() as AddressInfo).port}`;
  const ring = servedRing();
  const version = {
    ring,
    ...encodeRing(ring),
    state: null,
    signing: null,
    signatures: [],
    extraSections: [],
  };
  const lines: string[] = [];
  const target = { address, devices: [0], required: true };
  const servers = await pushToTargets(version, [target], {
    documents: async () => null,
    deltaFrom: () => expect.unreachable(),
    keepGoing: false,
    tell: (line) => lines.push(line),
  });
  mute.close();
  expect(servers).toMatchObject([{ address, outcome: 'unreachable', code: 'PEER_UNREACHABLE' }]);
  expect(lines[0]).toBe('version 1: 1 server, 0 accepted, 0 refused, 0 not reached');
});
