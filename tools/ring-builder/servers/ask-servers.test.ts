// Tests how servers are asked for their status and their files.
import { filesLook } from '@ringwright/wire/files';
import { wireVersion } from '@ringwright/wire/wire-version';
import { expect, test } from 'vitest';
import { fakeServer } from '../../../test/support/fake-server.ts';
import { wellOf } from '../../../test/support/ring-status.ts';
import { servedRing } from '../../../test/support/served-ring.ts';
import { askServers } from './ask-servers.ts';

test('a server checks the files of all its rings over one connection', async () => {
  const names = ['cities', 'notes', 'tasks', 'users'];
  const rings = names.map((ring) => ({ ...wellOf(servedRing(), 0), ring }));
  const looks: string[] = [];
  const look = {
    request: filesLook.request,
    answer: (request: unknown) => {
      looks.push(filesLook.request.parse(request).keyspace);
      return { damaged: [], count: 0, log: null };
    },
  };
  const plain = { address: 'here', wireVersion, ready: true, refusals: [] };
  const server = await fakeServer([[filesLook.method, look]], () => ({ ...plain, rings }));
  const address = `127.0.0.1:${server.port}`;
  const answers = await askServers([{ address }], new Set(names.slice(1)));
  expect(answers.get(address)).toMatchObject({ rings: names.map((ring) => ({ ring })) });
  expect(looks).toEqual(names.slice(1));
  expect(server.connections).toBe(1);
});
