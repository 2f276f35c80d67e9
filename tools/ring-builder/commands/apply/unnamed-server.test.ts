// Tests what trash confirm and reconcile make of a server that runs under another device name.
import { readVersion } from '@ringwright/repository/folder/read-version';
import { filesLook } from '@ringwright/wire/files';
import { wireVersion } from '@ringwright/wire/wire-version';
import { expect, test } from 'vitest';
import { fakeServer } from '../../../../test/support/fake-server.ts';
import { notePush } from '../../../../test/support/note-push.ts';
import { ringBuilderHere } from '../../../../test/support/ring-builder-here.ts';
import { wellOf } from '../../../../test/support/ring-status.ts';

/** A ring of one server, which holds its drops back because it is no device of the ring. */
async function misnamedServer() {
  const status = { address: 'here', wireVersion, ready: true, refusals: [], rings: [{}] };
  const looked = {
    request: filesLook.request,
    answer: () => ({ damaged: [], count: 0, log: null }),
  };
  const { port } = await fakeServer([[filesLook.method, looked]], () => status);
  const { folder, json, answer } = await ringBuilderHere({ yes: true });
  await json('create cities --partitions 8 --replicas 1');
  await json(`add cities r1z1-127.0.0.1:${port}/a 1`);
  await json('commit cities -m first');
  await notePush(folder);
  const { ring } = await readVersion(`${folder}/rings`, 'cities', 'head');
  const held = { drops: 8, quarantines: 0 };
  status.rings = [{ ...wellOf(ring, 0), device: null, held }];
  const reason: unknown = expect.stringContaining('it runs under another device name');
  return { answer, away: [{ address: `127.0.0.1:${port}`, reason }] };
}

test('its drops are not confirmed', async () => {
  const { answer, away } = await misnamedServer();
  const { json, next, exit } = await answer('trash cities confirm');
  expect(json).toMatchObject({ files: 0, changed: false, away });
  expect({ next, exit }).toEqual({ next: 'ring-builder servers cities', exit: 4 });
});

test('its disk counts as not compared', async () => {
  const { answer, away } = await misnamedServer();
  const { json, next, exit } = await answer('reconcile cities');
  expect(json).toMatchObject({ slots: 8, complete: 0, findings: [], away });
  expect({ next, exit }).toEqual({ next: 'ring-builder servers cities', exit: 4 });
});
