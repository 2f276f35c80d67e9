// Which trust documents a push sends while another operator creates new ones.
import { CodedError } from '@ringwright/base/coded-error';
import { encodeRing } from '@ringwright/ring/file/ring-file';
import { ringOffer } from '@ringwright/wire/rings';
import { trustOffer } from '@ringwright/wire/trust';
import { expect, test } from 'vitest';
import { pushToTargets } from '../../tools/ring-builder/servers/push-to-targets.ts';
import { fakeServer } from '../support/fake-server.ts';
import { servedRing } from '../support/served-ring.ts';

const documentOf = (version: number) => Buffer.from([version]);

/** Pushes to a server with access document 2 in force. Also returns the versions it was sent. */
async function pushing(documents: () => number) {
  const given: number[] = [];
  const answer = async ({ access }: { readonly access: Uint8Array | null }) => {
    given.push(access?.[0] ?? 0);
    if ((access?.[0] ?? 0) < 2) throw new CodedError('ACCESS_OLDER', 'it is older than 2');
    return { trusted: [] };
  };
  const { port } = await fakeServer([
    [trustOffer.method, { request: trustOffer.request, answer: answer as never }],
    [
      ringOffer.method,
      { request: ringOffer.request, answer: () => ({ wanted: false, active: null }) },
    ],
  ]);
  const ring = servedRing();
  const nothing = { state: null, signing: null, signatures: [], extraSections: [] };
  const version = { ring, ...encodeRing(ring), ...nothing };
  const target = { address: `127.0.0.1:${port}`, devices: [0], required: true };
  const [server] = await pushToTargets(version, [target], {
    documents: async () => ({ roots: documentOf(1), beacons: [], access: documentOf(documents()) }),
    deltaFrom: () => expect.unreachable(),
    keepGoing: true,
    tell: null,
  });
  return { server, given };
}

test('a push rereads an access document that the server refuses as too old', async () => {
  let reads = 0;
  const { server, given } = await pushing(() => Math.min((reads += 1), 2));
  expect(given).toEqual([1, 2]);
  expect(server).toMatchObject({ outcome: 'accepted' });
});

test('a folder that is older than its servers is refused after one attempt', async () => {
  const { server, given } = await pushing(() => 1);
  expect(given).toEqual([1]);
  expect(server).toMatchObject({ outcome: 'refused', code: 'ACCESS_OLDER' });
});
