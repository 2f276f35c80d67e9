// The log says that servers were told of the head, which no server was.
import { join } from 'node:path';
import { must } from '@ringwright/base/assert';
import { openRing } from '@ringwright/repository/open-ring';
import { appendPush } from './append-push.ts';

/** `folder`: the one that has the folder of rings in it. */
export async function notePush(folder: string, ring = 'cities'): Promise<void> {
  const rings = join(folder, 'rings');
  const { head } = await openRing(rings, ring);
  const entry = { time: '2026-11-21T03:00:00.000Z', user: 'ada', message: '', details: {} };
  await appendPush({ rings, ring }, must(head, `${ring} has a version`), entry);
}
