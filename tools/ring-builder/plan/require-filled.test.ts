// Tests that no split follows another one whose partitions are not filled on all servers.
import { join } from 'node:path';
import { readVersion } from '@ringwright/repository/folder/read-version';
import { finalizeMoves, initializeMoves } from '@ringwright/ring/advance-ring';
import { expect, test } from 'vitest';
import { advance, receiptsOf } from '../../../test/support/finalized-moves.ts';
import { notePush } from '../../../test/support/note-push.ts';
import { ringBuilderHere } from '../../../test/support/ring-builder-here.ts';
import { wellOf } from '../../../test/support/ring-status.ts';
import { statusServer } from '../../../test/support/status-server.ts';

test('a split waits until every server has filled the partitions of the last one', async () => {
  const { folder, json, refusal } = await ringBuilderHere();
  const rings = join(folder, 'rings');
  let notReady = 1;
  const status = async (): Promise<object> => {
    const { ring } = await readVersion(rings, 'cities', 'head');
    return { rings: [{ ...wellOf(ring, 1), notReady }] };
  };
  let answer: object = {};
  const { port: a } = await statusServer(() => ({}));
  const { port: b } = await statusServer(() => answer);
  await json('create cities --partitions 8 --replicas 2 --min-part-hours 0');
  await json(`add cities r1z1-127.0.0.1:${a}/a 1 r1z2-127.0.0.1:${b}/b 1`);
  await json('commit cities -m first');
  await notePush(folder);
  answer = await status();
  await json('split cities 0');
  await json('commit cities -m split');
  await advance(rings, initializeMoves);
  await advance(rings, finalizeMoves, receiptsOf);
  answer = await status();
  await json('set-weight cities d0 2');
  await json('commit cities -m weights --direct --yes');
  await json('split cities 1');
  for (const command of ['plan cities', 'commit cities -m again']) {
    expect(await refusal(command)).toMatchObject({ exit: 5, code: 'RESHAPE_UNFIT' });
  }
  notReady = 0;
  answer = await status();
  await json('plan cities');
  await json('commit cities -m again');
});
