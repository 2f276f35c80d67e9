// Tests that a device that is to join is refused if its server reports that it is something else.

import { readVersion } from '@ringwright/repository/folder/read-version';
import { oldestWireVersion, wireVersion } from '@ringwright/wire/wire-version';
import { expect, test } from 'vitest';
import { notePush } from '../../../test/support/note-push.ts';
import { ringBuilderHere } from '../../../test/support/ring-builder-here.ts';
import { statusServer } from '../../../test/support/status-server.ts';

const nowMs = Date.parse('2026-11-21T02:00:00.000Z');

const unfit = [
  [{ device: 'c' }, 'NEWCOMER_UNFIT'],
  [{ trust: [{ cluster: 'another' }] }, 'NEWCOMER_UNFIT'],
  [{ nowMs: nowMs + 61_000 }, 'NEWCOMER_UNFIT'],
  [{ nowMs: nowMs - 61_000 }, 'NEWCOMER_UNFIT'],
  [{ wireVersion: oldestWireVersion - 1 }, 'WIRE_VERSION_UNKNOWN'],
] as const;

/** A pushed ring of one server, and a second server whose status each test sets. */
async function ringAndNewcomer() {
  const news: { said: object } = { said: {} };
  const { port: old } = await statusServer(() => ({ nowMs }));
  const { port: joins } = await statusServer(() => news.said);
  const { folder, json, refusal } = await ringBuilderHere();
  const rings = `${folder}/rings`;
  await json('create cities --partitions 8 --replicas 1 --min-part-hours 0');
  await json(`add cities r1z1-127.0.0.1:${old}/a 1`);
  await json('commit cities -m first');
  const { ring } = await readVersion(rings, 'cities', 'head');
  await notePush(folder);
  return { news, rings, ring, json, refusal, add: `add cities r1z2-127.0.0.1:${joins}/b 1` };
}

test('add refuses a newcomer that does not fit, and stages nothing', async () => {
  const { news, json, refusal, add } = await ringAndNewcomer();
  for (const [answer, code] of unfit) {
    news.said = answer;
    const refused = await refusal(add);
    expect({ answer, code: refused.code }).toEqual({ answer, code });
  }
  expect(await json('status cities')).toMatchObject({ staged: [] });
  news.said = { device: 'c' };
  expect(await json(`${add} --yes`)).toMatchObject({ changes: 1 });
});

test('plan and commit refuse a newcomer that does not fit, and change nothing', async () => {
  const { news, rings, ring, json, refusal, add } = await ringAndNewcomer();
  await json(add);
  for (const [answer, code] of unfit) {
    news.said = answer;
    for (const command of ['plan cities', 'commit cities -m joins']) {
      const refused = await refusal(command);
      expect({ answer, code: refused.code }).toEqual({ answer, code });
    }
  }
  news.said = { device: '$(id)' };
  const quoted: unknown = expect.stringContaining("set-device cities d1 --name '$(id)'; or add");
  await expect(json('plan cities')).rejects.toMatchObject({ hint: quoted });
  expect((await readVersion(rings, 'cities', 'head')).ring.version).toBe(1);
  news.said = { device: 'c' };
  await json('plan cities --offline');
  await json('plan cities --yes');
  const { cluster } = ring;
  news.said = { device: 'b', trust: [{ cluster }], nowMs: nowMs + 59_000, wireVersion };
  expect(await json('commit cities -m joins')).toMatchObject({ version: 2 });
});

test('a newcomer of a newer release is accepted: it also speaks older wire versions', async () => {
  const { news, json, add } = await ringAndNewcomer();
  news.said = { device: 'b', wireVersion: wireVersion + 1 };
  await json(add);
  await json('plan cities');
  expect(await json('commit cities -m joins')).toMatchObject({ version: 2 });
});
