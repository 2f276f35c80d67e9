// Tests that a version is not committed while servers of the ring run a release that cannot read
// it.
import { readVersion } from '@ringwright/repository/folder/read-version';
import { oldestWireVersion } from '@ringwright/wire/wire-version';
import { expect, test } from 'vitest';
import { notePush } from '../../../test/support/note-push.ts';
import { ringBuilderHere } from '../../../test/support/ring-builder-here.ts';
import { statusServer } from '../../../test/support/status-server.ts';

/** A pushed ring of two servers. Each test sets the wire version of the second server. */
async function twoServers() {
  const second: { said: object } = { said: {} };
  const { port: a } = await statusServer(() => ({}));
  const { port: b } = await statusServer(() => second.said);
  const here = await ringBuilderHere();
  await here.json('create cities --partitions 8 --replicas 2 --min-part-hours 0');
  await here.json(`add cities r1z1-127.0.0.1:${a}/a 1 r1z2-127.0.0.1:${b}/b 1`);
  await here.json('commit cities -m first');
  await notePush(here.folder);
  const version = async () => {
    return (await readVersion(`${here.folder}/rings`, 'cities', 'head')).ring.version;
  };
  return { ...here, second, version };
}

test('the first split is refused until every server is upgraded', async () => {
  const { json, refusal, second, version } = await twoServers();
  await json('split cities 0');
  // Release 0.1.0 does not report its wire version.
  for (const spoken of [undefined, oldestWireVersion]) {
    second.said = { wireVersion: spoken };
    for (const command of ['plan cities', 'commit cities -m split']) {
      expect(await refusal(command)).toMatchObject({ exit: 5, code: 'SERVERS_OLDER' });
    }
  }
  expect(await version()).toBe(1);
  second.said = {};
  await json('plan cities');
  await json('commit cities -m split');
  expect(await version()).toBe(2);
});

test('a version that old servers can read needs no upgrade, and --yes commits others', async () => {
  const { json, second, version } = await twoServers();
  second.said = { wireVersion: oldestWireVersion };
  await json('set-weight cities d0 2');
  await json('commit cities -m weights');
  await json('split cities 0');
  await json('commit cities -m split --yes');
  expect(await version()).toBe(3);
});
